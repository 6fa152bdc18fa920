"""A store whose writer is killed at a named step, before it or after it, has all that was acknowledged, once, and finds it."""

import contextlib
import inspect
import itertools
import os
import shutil
import signal
from pathlib import Path
from unittest import mock

import pytest
from streams import near_copies

from neardup.store.candidates import exact
from neardup.store.formats import derived
from neardup.store.store import Store

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

STEPS = {
    "contents": "neardup.store.formats.contents.Contents.append",
    "contents synced": "neardup.store.formats.contents.Contents.sync",
    "rows of documents": "neardup.store.record.record.Record.add_documents",
    "rows of removed texts": "neardup.store.record.record.Record.add_removed",
    "texts": "neardup.store.record.record.Record.add_texts",
    "removed texts": "neardup.store.record.record.Record.add_removed_texts",
    "documents forgotten": "neardup.store.record.record.Record.forget",
    "facts": "neardup.store.record.record.Record.set_facts",
    "commit": "neardup.store.record.record.Record.commit",
    "order": "neardup.store.formats.derived.write_order",
    "moved to an order": "neardup.store.candidates.exact.ExactCandidates.learn",
    "segment": "neardup.store.formats.segments.write_segment_file",
    "segments taken": "neardup.store.formats.derived.Derived.settle",
    "folder synced": "neardup.store.session.reader.to_disk",
    "swept": "neardup.store.formats.derived.Derived.sweep",
    "generations swept": "neardup.store.session.reader.sweep_generations",
    "compacted contents synced": "neardup.store.upkeep.compact.to_disk",
    "renumbered": "neardup.store.record.record.Record.renumber",
    "distances saved": "neardup.store.candidates.simhash.SimHashCandidates.spill",
    "distances forgotten": "neardup.store.candidates.simhash.SimHashCandidates.forget",
    "tidied": "neardup.store.record.record.Record.tidy",
}
METHODS = [("exact", "jaccard", 0.7), ("minhash", "jaccard", 0.7), ("simhash", "jaccard", 0.5)]
ONLY = {"order": "exact", "moved to an order": "exact", "distances saved": "simhash", "distances forgotten": "simhash"}
ONLY |= {"texts": "exact", "removed texts": "exact"}
"""The method of steps that only one takes."""
BATCH = 6


def write(path, texts, options):
    """Add all texts in batches from where the store is, with updates and removals, and compact it now and then."""
    with Store(path, threads=1, **options) as store:
        for at in range((store.state or {"at": 0})["at"], len(texts), BATCH):
            if at % 30 == 24:
                store.remove(list(range(at - 24, at - 20)))
                store.compact()
            ids = list(range(at, at + BATCH))
            ids[0] = at // 2  # an update, a copy, or a new one
            store.check_and_add_many(ids, texts[at : at + BATCH], state={"at": at + BATCH})
            Path(f"{path}.said").write_text(str(at + BATCH))


def killed(path, texts, options, step, nth, *, after):
    """Write in a process that ends at the nth call of a step; whether it came so far."""
    module, _, name = step.rpartition(".")
    target, calls = _found(module), itertools.count(1)
    original = getattr(target, name)

    def ends(*arguments, **named):
        counted = next(calls)
        if counted == nth and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        found = original(*arguments, **named)
        if counted == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    patch = staticmethod(ends) if inspect.ismethod(original) else ends  # a method of the class is bound already
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException), mock.patch.object(target, name, patch):
            write(path, texts, options)
            os._exit(0)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, -signal.SIGKILL)
    return code != 0


def _found(name):
    """A module or a class by its full name."""
    module, _, last = name.rpartition(".")
    found = __import__(name if last[0].islower() else module, fromlist=["x"])
    return found if last[0].islower() else getattr(found, last)


def kept_in(store):
    """Which documents a store has, and all texts."""
    kept = [store.get(number) for number in range(66)]
    recent = sorted((str(each.text), each.id, each.duplicate_of) for each in store.recent(limit=100))
    return [each and (each.id, each.text) for each in kept], recent


@pytest.mark.parametrize(
    ("step", "method", "similarity", "least"),
    [(step, *how) for step in STEPS for how in METHODS if ONLY.get(step, how[0]) == how[0]],
)
def test_a_kill_at_a_step_loses_nothing(tmp_path, monkeypatch, step, method, similarity, least):
    monkeypatch.setattr(exact, "FIRST_LEARNED", 5)
    monkeypatch.setattr(exact, "GROWTH", 3)
    monkeypatch.setattr(derived, "MOST_IN_MEMORY", 80)
    options = {"method": method, "similarity": similarity, "min_similarity": least, "texts": method == "exact"}
    texts = list(near_copies(60, 7))
    write(tmp_path / "whole", texts, options)
    with Store(tmp_path / "whole", mode="r") as store:
        expected, kept = store.check_many(texts), kept_in(store)
    reached = 0
    for nth, after in itertools.product((1, 4), (False, True)):
        path = tmp_path / f"{nth}{after}"
        if not killed(path, texts, options, STEPS[step], nth, after=after):
            break
        reached += 1
        said = Path(f"{path}.said")
        if said.exists():
            with Store(path, mode="r") as store:
                assert store.verify().is_sound
                assert store.state["at"] >= int(
                    said.read_text() or 0
                )  # a thread of the writer may be killed while another says it
        write(path, texts, options)
        with Store(path, mode="r") as store:
            assert store.verify().is_sound
            assert store.check_many(texts) == expected
            assert kept_in(store) == kept
        shutil.rmtree(path)
    assert reached
