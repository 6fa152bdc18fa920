"""CONTAMINATION: documents that hold items of benchmarks: decided, counted, and removed from texts in memory."""
