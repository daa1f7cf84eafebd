"""Perform: planned motions done by a simulated body, and jumps."""
