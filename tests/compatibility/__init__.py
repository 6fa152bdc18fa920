"""Other tools' real releases, installed from PyPI, beside the recipes that make their fingerprints.

`tools.py` names the releases and installs each tool into an environment of its own; `programs/` runs there and imports nothing of
this package; `corpus.py` has the texts.
"""
