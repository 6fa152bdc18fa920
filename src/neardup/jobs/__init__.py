"""JOBS: the work of the commands on files, also for Python callers.

In: names of files, and options. Out: files (all of them or none), and a result with their paths.
`removal/run.py` has the one sequence of every job that writes survivors: open → find → write → commit.
May import: judging, dedup, and all rooms below them.
"""
