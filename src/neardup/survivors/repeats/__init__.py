"""REPEATS: the runs of tokens of documents that stood earlier, in an earlier document or in the same one; and texts without them.

In: a corpus, a reference, and the options. Out: the cuts, each with its copy; the log, the list and the summary of a run.
May import: survivors, and all rooms below it.
"""
