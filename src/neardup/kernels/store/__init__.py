"""Kernels of `neardup.store`."""
