"""The methods of Hamming search: one module for each, and `table.py` with a row for each.

In: unique fingerprints, a distance, options. Out: a searcher, its cost and, for methods that can miss pairs, the probability of
finding one. To add a method, write a module with a `METHOD` and add a row to the table, which the planner, indexes, the command
line and the pages read.
"""
