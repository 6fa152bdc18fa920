"""REMEMBER: a store of documents that answers by verified similarity, one document at a time, as `dedup` does for whole corpora.

Comes in: texts with their ids. Goes out: for each, whether it is new, and the kept documents that it matches; what was acknowledged
is on disk. `record.py` is what is known, in SQLite; `run_file.py` holds what verification compares, and sketches. What answers is
derived from both: `candidates.py` proposes kept documents, `walk.py` decides by the star of `survivors/`.

May import: survivors/, matching/, hamming/, fingerprints/, io/, text/, resources/, recipe/, kernels/.
"""
