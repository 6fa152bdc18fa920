"""INTEGRATIONS: thin stages for other tools, one module for each; none has an algorithm of its own.

In: what the tool hands on. Out: the same, without near-duplicates. A module imports its tool; `TESTED` is the version that it was
tested with. `gate.py` decides for those that keep an index of documents, and `rows.py` for functions of frames and SQL.

May import: jobs, engines, and what is below.
"""
