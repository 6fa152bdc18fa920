"""REMEMBER: a store of documents that answers by verified similarity, one document at a time, as `dedup` does for whole corpora.

Comes in: texts with their ids. Goes out: for each, whether it is new, and the kept documents that it matches; what was acknowledged
is on disk. `record.py` is what is known, in SQLite; `contents.py` holds what verification compares. What answers is derived from
both: `postings.py` in memory and in segments. `candidates/` proposes kept documents, `walk.py` decides by the star of `survivors/`,
`files.py` makes it durable; `stream.py` is the decisions alone. `postgresql/` lets several services share a store.

May import: survivors/, matching/, hamming/, fingerprints/, io/, text/, resources/, recipe/, kernels/.
"""
