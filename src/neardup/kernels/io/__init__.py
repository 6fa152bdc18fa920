"""Kernels of `neardup.io`."""
