"""IO: READ and WRITE files; `storage/` knows where they lie, `formats/` what is in them, one module a format behind one table.

In: names of files, folders, globs, URLs. Out: batches of texts with ids and values, in order; outputs that appear whole or not
at all.
It knows nothing of fingerprints: what stages write about documents, they describe themselves.
May import: text, and what is below.
"""
