"""JSON: its values and spans, and rows of objects, read in blocks."""
