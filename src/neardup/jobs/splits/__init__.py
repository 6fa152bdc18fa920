"""Splits of files, and of texts in memory."""
