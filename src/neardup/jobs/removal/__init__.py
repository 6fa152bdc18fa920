"""Runs that remove documents or parts of them: open, find, write, commit."""
