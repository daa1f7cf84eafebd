"""Motion files, one module a format."""
