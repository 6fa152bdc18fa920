"""Machine code of kernels, compiled ahead of time: one library for each level of processors, and the calls into them.

In: at build time, `signatures.json`, the argument types that each kernel is compiled for. Out: functions by name.
`build.py` writes the libraries and alone imports Numba; `library.py` chooses and opens one; `calls.c` is the call layer.
May import: `neardup.errors`; build.py also the kernels.
"""
