"""FINISHED runs beside one another: which options differ, and what only one of them removed."""
