"""Kernels of `neardup.matching`."""
