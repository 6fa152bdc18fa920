"""COMPACT: write the contents anew without documents that are gone, and merge what answers."""

import contextlib

from neardup.io.growing_file import to_disk
from neardup.store.contents import Contents
from neardup.store.derived import nothing_derived
from neardup.store.files import REBUILT, Files


def compact(files: Files) -> None:
    """Give up the room of documents that are gone, and of remembered texts whose survivors are. Numbers change, answers do not."""
    files.flush()
    if not files.gone.count:
        with files.changing():
            files.spill(compact=True)
        return
    kept, generation = files.kept(), files.generation + 1
    layout = files.layout
    made = Contents(files.path, layout, layout.no_ends, store=files.contents.store, generation=generation)
    with files.changing():
        with contextlib.closing(made) as anew:
            for first in range(0, len(kept), REBUILT):
                anew.append(files.contents.texts(kept[first : first + REBUILT]))
            anew.sync()
            to_disk(files.path)
            ends, documents = anew.ends, len(anew)
        files.record.renumber(kept)
        derived = nothing_derived(files.derived.listed()["serial"])
        facts = {"documents": documents, "removed": files.record.counts()[1], "ends": ends}
        files.record.set_facts({**facts, "generation": generation, "derived": derived})
        files.candidates.forget(files.path)  # before the record: an index that is gone is made again
        files.record.commit()
    files.reopen()
    with files.changing():
        files.candidates.learn()
        files.spill(compact=True)
    files.record.tidy()
