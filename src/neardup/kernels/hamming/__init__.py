"""Kernels of `neardup.hamming`."""
