"""A writer whose lock keeps nobody out, as on a network file system: it adds, removes and compacts, and opens the store again when it
is refused, for some seconds; it begins when it gets a line.

    python two_writers.py PATH NAME SECONDS SEED DURABLE METHOD

Prints a line of JSON for each call that returned, and for each that was refused with the words.
"""

import json
import random
import sys
import time

import pytest
from sizes import set_sizes

import neardup as nd

SIZES = {"learned": 8, "growth": 2, "moved": 6, "in_memory": 16, "chunk": 1 << 12, "merged": 2}


def say(**line):
    print(json.dumps(line), flush=True)


def text_of(name):
    """A text that is like no other."""
    return " ".join(f"{name}w{i}" for i in range(12))


def main(path, name, seconds, seed, durable, method):
    choose, ends, number = random.Random(seed), time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        try:
            with nd.Store(path, durable=durable, method=method, threads=1, texts=True) as store:
                kept = []
                for _ in range(choose.randrange(1, 40)):
                    ids = [f"{name}{number + i}" for i in range(choose.choice([1, 1, 5, 40]))]
                    number += len(ids)
                    store.check_and_add_many(ids, list(map(text_of, ids)))
                    if durable == "batch":
                        store.flush()
                    say(added=ids)
                    kept += ids
                    what = choose.random()
                    if what < 0.1:
                        gone, kept = kept[:3], kept[3:]
                        say(removing=gone)
                        store.remove(gone)
                    elif what < 0.15:
                        store.compact()
                    time.sleep(choose.choice([0, 0, 0.002]))
        except nd.InputError as problem:
            say(refused=str(problem))


if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch:
        set_sizes(patch, **SIZES)
        patch.setattr("neardup.store.session.folder.fcntl.flock", lambda *_: None)
        say(ready=True)
        sys.stdin.readline()
        main(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), sys.argv[5], sys.argv[6])
