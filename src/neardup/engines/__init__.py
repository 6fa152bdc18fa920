"""ENGINES: the flow of `neardup.dedup` as pure functions on tables of Arrow, and who runs them, on one machine or many.

In: texts in parts that can be read again. Out: which documents survive, and a row for each one that does not.

`flow.py` reads from top to bottom: it is the whole run. `stages.py` says what a stage is. Each other module has the functions of
one step, which know nothing of engines: they get the rows of one bucket, and give rows for the buckets of the next step.
`packing.py` is how rows travel, `job/local_engine.py` the engine of one process.

May import: dedup, survivors, matching, and what is below them; not store.
"""
