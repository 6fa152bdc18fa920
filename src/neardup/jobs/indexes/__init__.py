"""Hamming indexes on files: build, change and search them."""
