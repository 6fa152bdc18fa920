"""The commands, one module each. `main.py` above lists them."""
