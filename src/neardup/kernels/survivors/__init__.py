"""Kernels of `neardup.survivors`."""
