"""REMEMBER: a store of documents that answers by verified similarity, one document at a time, as `dedup` does for whole corpora.

Comes in: texts with their ids. Goes out: for each, whether it is new, and the kept documents that it matches; what was acknowledged
is on disk. `record/` is what is known, in SQLite; `formats/contents.py` has what verification compares. What answers is derived
from both: `formats/segments.py`, in memory and in files. `candidates/` proposes kept documents, `decisions/` decides by the star of
`survivors/`, `session/` makes it durable, `upkeep/` looks after it; `stream.py` is the decisions alone. `back_ends.py` lists the
kinds of stores: a folder, and `postgresql/`, which several services share.

May import: survivors/, matching/, hamming/, fingerprints/, io/, text/, resources/, recipe/, kernels/.
"""
