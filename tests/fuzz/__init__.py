"""A differential fuzz: corpora and options drawn by chance, what the library says of them, and what the definitions say.

`texts.py` and `cases.py` draw; `ways.py` runs the library or a command; `definition.py` says what must come out, by
`tests/naive.py` alone; `comparison.py` compares; `shrinking.py` makes a corpus that differs small; `__main__.py` loops.
"""
