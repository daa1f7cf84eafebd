"""Constraints of a motion as blocks of rows: physics, contacts, limits, torques, cycles, parts kept apart."""
