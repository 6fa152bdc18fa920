"""Kernels of `neardup.fingerprints`."""
