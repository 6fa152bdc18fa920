"""Kernels of `neardup.text`."""
