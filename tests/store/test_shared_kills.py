"""A service that is killed at a named step, before it or after it: the store has all that was acknowledged, once, in every replica."""

import itertools
import os
import random
import signal
import time
from pathlib import Path
from unittest import mock

import pytest
from test_decisions import near_copies
from test_killed_steps import _found, kept_in

from forked import ended, forked
from neardup.store.postgresql import catching_up, log, shared_files
from neardup.store.session import reader as open_files
from neardup.store.store import Store

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

ROOM = "neardup.store.postgresql"
STEPS = {
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
    "replica written": "neardup.store.record.record.Record.commit",
    "documents followed": f"{ROOM}.log.Log.documents",
    "texts followed": f"{ROOM}.log.Log.removed",
    "changes followed": f"{ROOM}.log.Log.changes",
    "part followed": "neardup.store.session.writer.Files.acknowledge",
}
BATCH = 6
NOTES = {str(at): [at] for at in range(0, 60, BATCH)}


def write(place, documents, said, **options):
    """Add all documents in batches from where the store is, with updates and removals."""
    with Store(place, threads=1, **options) as store:
        for at in range((store.state or {"at": 0})["at"], len(documents), BATCH):
            if at % 30 == 24:
                store.remove([at - 24, at - 23])
            ids = list(range(at, at + BATCH))
            ids[0] = at // 2  # an update, a copy, or a new one
            store.check_and_add_many(
                ids,
                documents[at : at + BATCH],
                state={"at": at + BATCH},
                notes=lambda _, at=at: {str(at): ([at], 2e11)},
            )
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

    with mock.patch.object(target, name, ends):
        code = ended(forked(work))
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr(open_files, "AT_ONCE", 8)
    monkeypatch.setattr("neardup.store.session.writer.AT_ONCE", 8)  # of changes that a replica has in memory
    monkeypatch.setattr(shared_files, "AT_ONCE", 3)
    monkeypatch.setattr(catching_up, "AT_ONCE", 4)
    monkeypatch.setattr(log, "AT_ONCE", 5)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What a store in a folder answers to the same work, and which ids it has."""
    folder, texts = tmp_path_factory.mktemp("alone"), list(near_copies(60, 7))
    write(folder / "alone", texts, folder / "said", min_similarity=0.7, texts=True)
    with Store(folder / "alone", mode="r") as store:
        return store.check_many(texts), kept_in(store)


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_a_step_loses_nothing(server, cache, tmp_path, alone, step):
    texts, options = list(near_copies(60, 7)), {"min_similarity": 0.7, "texts": True}
    expected, kept = alone
    reached = 0
    for nth, after in itertools.product((1, 4), (False, True)):
        place, said = (
            server.place(f"k{os.getpid()}_{step.replace(' ', '_')}_{nth}_{str(after).lower()}"),
            tmp_path / "said",
        )
        said.unlink(missing_ok=True)
        follows = "followed" in step
        if follows:  # a service that comes late
            write(place, texts, said, **options)

        late, fresh = (f"{place}&replica={tmp_path / name}{nth}{after}" for name in ("late", "fresh"))

        def work(place=place, late=late, said=said, follows=follows):
            if follows:
                with Store(late, mode="r") as store:
                    assert store.check_many(texts) == expected
            else:
                write(place, texts, said, **options)

        if not killed(work, STEPS[step], nth, after=after):
            break
        reached += 1
        if said.exists():
            with Store(place, mode="r") as store:
                assert store.verify().is_sound
                assert store.state["at"] >= int(said.read_text())
        work()
        with Store(place) as store, Store(fresh, mode="r") as other:
            for each in (store, other):
                assert each.verify().is_sound
                assert each.check_many(texts) == expected
                assert kept_in(each) == kept
                assert each.notes(list(NOTES)) == NOTES
    assert reached
    assert Path(cache).exists()


def test_services_that_are_killed_at_random_lose_nothing(server, place, tmp_path):
    texts, choose = list(near_copies(600, 4)), random.Random(4)
    Store(place, min_similarity=0.7).close()

    def work(number):
        said = tmp_path / str(number)
        done = said.read_text().count("\n") if said.exists() else 0
        with Store(place) as store, said.open("a") as file:
            for row in range(number + 3 * done, 600, 3):
                answer = store.check_and_add(row, texts[row])
                file.write(f"{row} {row if answer.is_new else answer.duplicate_of}\n")
                file.flush()

    children = {number: forked(work, number) for number in range(3)}
    for _ in range(12):
        time.sleep(choose.random() / 5)
        number = choose.randrange(3)
        os.kill(children[number], signal.SIGKILL)
        ended(children[number])
        children[number] = forked(work, number)
    assert [ended(child) for child in children.values()] == [0, 0, 0]
    told = [line.split() for number in range(3) for line in (tmp_path / str(number)).read_text().splitlines()]
    assert sorted(int(row) for row, _ in told) == list(range(600))
    with Store(place) as store:
        answers = store.check_many(texts)
        assert store.verify().is_sound
        assert [str(answers[int(row)].duplicate_of) for row, _ in told] == [kept for _, kept in told]
