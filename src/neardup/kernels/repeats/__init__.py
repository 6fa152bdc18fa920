"""Kernels of repeated passages: runs of tokens that stood earlier."""
