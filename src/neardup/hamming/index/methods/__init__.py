"""The methods of Hamming search: one module for each, and `table.py` with a row for each.

In: unique fingerprints, a distance, options. Out: a searcher, its cost, and the probability that a probable method finds a pair. To
add a method, write a module with a `METHOD` and add a row to the table, which planner, indexes, command line and pages read.
"""
