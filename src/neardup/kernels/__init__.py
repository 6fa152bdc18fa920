"""All compiled code: arrays in, arrays filled.

In: arrays whose kinds and shapes the docstrings state. Out: what is written to the arrays given for it.
No allocation, no errors, no options: callers have checked. Folders are called after the room whose concept they compute.
May import: nothing of the package but kernels; `compilation.py` owns how they are compiled and where machine code is kept.
"""
