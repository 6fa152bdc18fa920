"""SURVIVORS: CLUSTER → DECIDE → RECORD; `decisions.py` is the only code that decides what is kept.

In: candidates and similarities, listed pairs, or fingerprints of one document after another (`distance_stream.py`). Out: the
outcome of each row, the audit, annotations, tables and the summary of a run.
May import: matching, and every layer below it.
"""
