"""The methods of Hamming search: one module each, and `table.py` with a row for each.

In: unique fingerprints, a distance, options. Out: a searcher, its cost, and how likely a probable one finds a pair. A method is
added by a module with a `METHOD` and a row in the table; planner, indexes, command line and pages read the table.
"""
