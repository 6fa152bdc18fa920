"""PROFILES: other tools' features and bits, one table in `tools.py`."""
