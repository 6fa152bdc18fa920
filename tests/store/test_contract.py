"""What every back end of a store promises: a kill at any step loses nothing that was acknowledged, and copies answer as it does."""

import contextlib
import inspect
import itertools
import os
import shutil
import signal
from unittest import mock

import pytest
from sizes import set_sizes
from streams import near_copies
from test_upkeep import METHODS

import neardup as nd
from forked import ended, forked
from neardup.store.store import Store

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

STORE, ROOM = "neardup.store", "neardup.store.postgresql"
IN_A_FOLDER = {
    "contents": f"{STORE}.formats.contents.Contents.append",
    "contents synced": f"{STORE}.formats.contents.Contents.sync",
    "rows of documents": f"{STORE}.record.record.Record.add_documents",
    "rows of removed texts": f"{STORE}.record.record.Record.add_removed",
    "texts": f"{STORE}.record.record.Record.add_texts",
    "removed texts": f"{STORE}.record.record.Record.add_removed_texts",
    "documents forgotten": f"{STORE}.record.record.Record.forget",
    "facts": f"{STORE}.record.record.Record.set_facts",
    "commit": f"{STORE}.record.record.Record.commit",
    "order": f"{STORE}.formats.derived.write_order",
    "moved to an order": f"{STORE}.candidates.exact.ExactCandidates.learn",
    "segment": f"{STORE}.formats.segments.write_segment_file",
    "segments taken": f"{STORE}.formats.derived.Derived.settle",
    "folder synced": f"{STORE}.session.reader.to_disk",
    "swept": f"{STORE}.formats.derived.Derived.sweep",
    "generations swept": f"{STORE}.session.reader.other_generations",
    "compacted contents synced": f"{STORE}.upkeep.compact.to_disk",
    "renumbered": f"{STORE}.record.record.Record.renumber",
    "distances saved": f"{STORE}.candidates.simhash.SimHashCandidates.spill",
    "distances forgotten": f"{STORE}.candidates.simhash.SimHashCandidates.forget",
    "tidied": f"{STORE}.record.record.Record.tidy",
}
IN_A_DATABASE = {
    "tables made": f"{ROOM}.schema._make",
    "store made": f"{ROOM}.log.Log.create",
    "replica marked": f"{ROOM}.replicas.to_disk",
    "lock taken": f"{ROOM}.log.Log.begin_deciding",
    "documents decided": f"{ROOM}.shared_files.SharedFiles._write",
    "rows written": f"{ROOM}.log.Log.write_rows",
    "notes written": f"{ROOM}.shared_judgements.SharedNotes.write",
    "change written": f"{ROOM}.log.Log.write_change",
    "committed": f"{ROOM}.shared_files.commit",
    "replica told": f"{ROOM}.shared_files.SharedFiles._settle",
    "replica written": f"{STORE}.record.record.Record.commit",
    "documents followed": f"{ROOM}.log.Log.documents",
    "texts followed": f"{ROOM}.log.Log.removed",
    "changes followed": f"{ROOM}.log.Log.changes",
    "part followed": f"{STORE}.session.writer.Files.acknowledge",
}
EXACT, MINHASH, SIMHASH = ("exact", "jaccard", 0.7), ("minhash", "jaccard", 0.7), ("simhash", "jaccard", 0.5)
ONLY = {"order": EXACT, "moved to an order": EXACT, "distances saved": SIMHASH, "distances forgotten": SIMHASH}
ONLY |= {"texts": EXACT, "removed texts": EXACT}
"""The method of steps that only one takes."""
STEPS = [
    ("folder", step, *how) for step in IN_A_FOLDER for how in (EXACT, MINHASH, SIMHASH) if ONLY.get(step, how) == how
] + [("postgresql", step, *EXACT) for step in IN_A_DATABASE]
SIZES = {
    "folder": {"learned": 5, "growth": 3, "in_memory": 80},
    "postgresql": {"texts": 8, "rows": 3, "followed": 4, "changes": 5},
}
BATCH = 6
NOTES = {str(at): [at] for at in range(0, 60, BATCH)}


def write(place, documents, said, **options):
    """Add all texts in batches from where the store is, with updates, removals and notes, and compact a folder now and then."""
    with Store(place, threads=1, **options) as store:
        for at in range((store.state or {"at": 0})["at"], len(documents), BATCH):
            if at % 30 == 24:
                store.remove(list(range(at - 24, at - 20)))
                if "postgresql" not in str(place):
                    store.compact()
            ids = list(range(at, at + BATCH))
            ids[0] = at // 2  # an update, a copy, or a new one
            noted = {str(at): ([at], 2e11)}
            state = {"at": at + BATCH}
            store.check_and_add_many(ids, documents[at : at + BATCH], state=state, notes=lambda _, noted=noted: noted)
            said.write_text(str(at + BATCH))


def killed(work, step, nth, *, after):
    """Work in a process that ends at the nth call of a step; whether it came so far."""
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
    with mock.patch.object(target, name, patch):
        code = ended(forked(work))
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


@pytest.mark.parametrize(("back_end", "step", "method", "similarity", "least"), STEPS, indirect=["back_end"])
def test_a_kill_at_a_step_loses_nothing(back_end, tmp_path, monkeypatch, step, method, similarity, least):
    set_sizes(monkeypatch, **SIZES[back_end.name])
    options = {"method": method, "similarity": similarity, "min_similarity": least, "texts": method == "exact"}
    texts, whole, said = list(near_copies(60, 7)), tmp_path / "whole", tmp_path / "said"
    write(whole, texts, said, **options)
    with Store(whole, mode="r") as store:
        expected, kept = store.check_many(texts), kept_in(store)
    reached = 0
    for nth, after in itertools.product((1, 4), (False, True)):
        place = back_end.alone(f"{nth}{after}")
        said.unlink(missing_ok=True)
        follows = "followed" in step
        if follows:  # a service that comes late
            write(place, texts, said, **options)

        def work(place=place, follows=follows, late=tmp_path / f"late{nth}{after}"):
            if follows:
                with Store(f"{place}&replica={late}", mode="r") as store:
                    assert store.check_many(texts) == expected
            else:
                write(place, texts, said, **options)

        if not killed(work, (IN_A_FOLDER | IN_A_DATABASE)[step], nth, after=after):
            break
        reached += 1
        if said.exists():
            with Store(place, mode="r") as store:
                assert store.verify().is_sound
                at = store.state["at"]
                assert at >= int(said.read_text() or 0)  # a thread may be killed while another says it
                assert store.notes(list(NOTES)) == {key: value for key, value in NOTES.items() if value[0] < at}
        work()
        with contextlib.ExitStack() as stack:
            for store in map(stack.enter_context, back_end.others(place)[0]):
                assert store.verify().is_sound
                assert store.check_many(texts) == expected
                assert kept_in(store) == kept
                assert store.notes(list(NOTES)) == NOTES
        shutil.rmtree(place if back_end.name == "folder" else tmp_path / "late", ignore_errors=True)
    assert reached


@pytest.mark.parametrize(("method", "similarity", "least"), METHODS)
def test_copies_answer_as_the_store_does(back_end, tmp_path, method, similarity, least):
    options = {"method": method, "similarity": similarity, "min_similarity": least}
    texts, place = list(near_copies(80, 3)), back_end.place()

    def seen(store):
        documents = [store.get(row) for row in range(60)]
        return [None if each is None else each.last_seen for each in documents]

    with contextlib.ExitStack() as stack:
        store = stack.enter_context(Store(place, **options))
        store.check_and_add_many(range(60), texts[:60])
        store.remove(range(0, 60, 7))
        others, writers = (list(map(stack.enter_context, some)) for some in back_end.others(place))
        words = ["a text of some words that nobody else has got today"]
        [store, *writers][-1].check_and_add_many(["x"], words, metadata=[{"a": 1}], state={"at": 7})
        asked = [*texts, *near_copies(20, 4)]
        expected, times = store.check_many(asked), seen(store)
        store.export(tmp_path / "export")
        assert store.info().gone > 0
        copies = [tmp_path / "backup"] if back_end.name == "folder" else []  # a database has its own ways
        for copy in copies:
            store.backup(copy)
        assert store.compact()
        assert back_end.count(place, "documents") == len(store)
        assert not any(each.compact() for each in writers)
        names = [*(row for row, time in enumerate(times) if time is not None), "x"]
        for each in (store, *others):
            assert each.check_many(asked) == expected
            assert each.ids() == names
            assert (each.info().gone, each.state, each.get("x").metadata) == (0, {"at": 7}, {"a": 1})
            assert seen(each) == times
            assert each.verify().is_sound
    again = back_end.place("again")
    for copy in (again, tmp_path / "imported"):  # also into a folder
        with Store.from_export(copy, tmp_path / "export") as imported:
            assert imported.check_many(asked) == expected
            assert (imported.get("x").metadata, imported.state) == ({"a": 1}, {"at": 7})
            assert imported.options == store.options
            assert imported.verify().is_sound
    with pytest.raises(nd.InputError, match="is there|is a store already"):
        Store.from_export(again, tmp_path / "export")
    with contextlib.ExitStack() as stack:
        stores = [stack.enter_context(Store(each)) for each in (place, again, *copies)]
        for each in stores:
            assert each.check_many(asked) == expected
            assert (each.get("x").metadata, each.state) == ({"a": 1}, {"at": 7})
            each.check_and_add_many(range(100, 120), texts[60:])
            assert each.check_many(texts) == stores[0].check_many(texts)
