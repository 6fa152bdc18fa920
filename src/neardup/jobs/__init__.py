"""JOBS: what the commands do with files, for Python callers too.

In: names of files, and options. Out: files, all or nothing, and a result that says where they lie.
`run.py` is the one choreography of all that writes survivors: open → find → write → commit.
May import: judging, dedup, and what is below.
"""
