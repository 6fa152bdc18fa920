"""What is done to a store while its writes are recorded: `python power_loss_work.py FOLDER [texts]`. Each line tells what is acknowledged."""

import os
import sys

from neardup.store.candidates import exact
from neardup.store.formats import appended_file, derived
from neardup.store.store import Store

BATCHES = 10
JUDGED = (1, 4, 7)
"""Batches after which pairs are judged."""


def documents(batch):
    """Three documents of a batch: two new ones, and a near copy of the first."""
    words = [[f"b{batch}t{i}w{j}" for j in range(12)] for i in range(2)]
    texts = [*words, [*words[0][:-1], "changed"]]
    return [f"{batch}-{i}" for i in range(3)], [" ".join(text) for text in texts]


def main(folder, *, keeps_texts=False):
    """Add, remove, compact and open again; in a store with texts, judge pairs, too."""
    derived.MAX_ENTRIES_IN_MEMORY, exact.MIN_DOCUMENTS_LEARNED, exact.GROWTH_FACTOR = 60, 4, 3
    appended_file.CHUNK_BYTES = 1 << 14
    store = Store(folder, threads=1, texts=keeps_texts)
    for batch in range(BATCHES):
        store.check_and_add_many(*documents(batch))
        os.write(1, b"added %d\n" % batch)
        if keeps_texts and batch in JUDGED:
            store.judge((f"{batch}-0", f"{batch}-1"), same=False)
            store.judge(store.recent(limit=1)[0], same=True)
            os.write(1, b"judged %d\n" % batch)
        if batch == 5:
            store.remove(["2-0", "3-1"])
            os.write(1, b"removed\n")
        if batch == 6:
            store.compact()
        if batch == 8:
            store.close()
            store = Store(folder, threads=1)
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], keeps_texts="texts" in sys.argv[2:])
