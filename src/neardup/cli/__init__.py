"""CLI: one file for each command, with its options and its printing only.

In: arguments. Out: a call of a job, its result on the screen, an exit code.
A command's module is imported when the command is called, and computing code when it computes. So `--help` loads neither
numpy nor Numba.
May import: everything.
"""
