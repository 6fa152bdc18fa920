"""Parquet: its files, columns and values, and columns of vectors."""
