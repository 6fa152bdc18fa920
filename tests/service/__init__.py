"""Tests of the service; `serving.py` starts services, `kills.py` kills them."""
