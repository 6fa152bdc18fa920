"""Byte flips in every file that the program reads: the result is right, or the file is refused by name.

`inputs.py` and `products.py` have the formats, `judgment.py` says what came of a flip, `worker.py` flips in a process of its own,
which may crash or hang, and `__main__.py` divides the flips among workers and counts.
"""
