"""PROFILES: the features and bits of other tools, in one table in `tools.py`."""
