"""IO: READ and WRITE files. `storage/` knows where files lie, `formats/` what is in them: one module per format behind one table.

In: names of files, folders, globs and URLs. Out: batches of texts with ids and values, in order; outputs that appear complete or
not at all.
This room knows nothing of fingerprints: stages describe the files that they write about documents.
May import: text, and every layer below it.
"""
