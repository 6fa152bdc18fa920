"""JUDGING: how good and how expensive a run is or would be, and why two texts match.

In: labels, samples, finished runs, two texts. Out: evaluations, verifications, reports, explanations, comparisons,
estimates and plans of whole runs.
Nothing is decided here.
May import: dedup, repeats, survivors, and what is below.
"""
