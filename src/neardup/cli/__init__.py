"""CLI: one file a command; only options and printing.

In: arguments. Out: a call of a job, its result on the screen, an exit code.
A command's module is imported when it is called, and what computes when it computes: `--help` loads neither numpy nor Numba.
May import: everything.
"""
