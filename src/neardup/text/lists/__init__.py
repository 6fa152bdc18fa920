"""Texts in lists, by a path into them: the path, and what it leads to in values of Python and in columns of Arrow."""
