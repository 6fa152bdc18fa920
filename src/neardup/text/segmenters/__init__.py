"""SEGMENT: a family of segmenters behind one table; each turns normalized texts into tokens in joined buffers."""
