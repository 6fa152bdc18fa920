"""JOIN: find which documents may match, by one of the methods in the table of methods.py."""
