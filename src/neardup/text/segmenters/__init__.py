"""SEGMENT: a family of segmenters behind one table; each takes normalized texts and gives their tokens as joined buffers."""
