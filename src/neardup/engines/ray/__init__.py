"""The engine on Ray: what runs on workers (`tasks.py`), what the driver does (`engine.py`), the input (`sources.py`)."""
