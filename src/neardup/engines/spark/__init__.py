"""The engine on Spark: what runs on executors (`tasks.py`), what the driver does (`engine.py`), the input (`frames.py`)."""
