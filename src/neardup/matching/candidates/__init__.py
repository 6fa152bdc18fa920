"""JOIN: which documents may match: a family of methods, read from the table in methods.py."""
