"""FORMATS: a family of file formats behind one table, in `table.py`: how each is read, copied, annotated and rewritten."""
