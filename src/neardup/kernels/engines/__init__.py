"""Kernels of the engines: pairs of documents with a common key."""
