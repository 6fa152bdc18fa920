"""Leaks between files, and between texts in memory."""
