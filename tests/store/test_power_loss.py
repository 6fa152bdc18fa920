"""What a store has acknowledged is there after a loss of power, at whichever write or sync it comes."""

import random
import shutil
import sys
from pathlib import Path

import pytest
from power_loss_work import BATCHES, documents
from recorded_writes import disks, record

from neardup.store.session.folder import is_store
from neardup.store.store import Store

WORK = Path(__file__).with_name("power_loss_work.py")


@pytest.fixture(scope="module")
def steps(request, tmp_path_factory):
    """The steps of some work in a store without texts or with them, and its folder."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed (`make debian` installs it, as root)")
    folder = tmp_path_factory.mktemp("recorded")
    command = [sys.executable, str(WORK), str(folder / "s"), request.param]
    return record(command, folder / "s", folder / "log"), folder / "s"


@pytest.mark.parametrize(("steps", "part"), [("", 20), ("", 1), ("texts", 8)], indirect=["steps"])
def test_what_was_acknowledged_survives_a_loss_of_power(steps, tmp_path, part):
    """After one in so many of the steps."""
    taken, home = steps
    assert {step.what for step in taken} >= {"say", "write", "sync", "truncate", "unlink"}
    seen, count = set(), 0
    for said, disk in disks(taken, random.Random(part), part):
        key = (said, tuple(sorted((path, hash(content)) for path, content in disk.items())))
        if key in seen:
            continue
        seen.add(key)
        count += 1
        folder = tmp_path / str(count)
        for path, content in disk.items():
            place = folder / Path(path).relative_to(home)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        check(folder, said.decode().split("\n")[:-1])
        shutil.rmtree(folder, ignore_errors=True)
    assert count * part > 300, count


def check(folder, said):
    """A store has all that was acknowledged, nothing twice, and is sound."""
    added = [int(line.split()[1]) for line in said if line.startswith("added")]
    if not is_store(folder):
        assert not added
        return
    with Store(folder, threads=1) as store:
        assert store.verify().is_sound
        removed = "removed" in said
        for batch in added:
            ids, texts = documents(batch)
            for id, text, of in zip(ids, texts, [*ids[:2], ids[0]], strict=True):  # noqa: A001
                if of in ("2-0", "3-1") and (removed or added[-1] == 5):
                    continue
                assert store.check(text).duplicate_of == of, (id, said)
        kept = len(store)
        assert 2 * len(added) - 2 <= kept <= 2 * len(added) + 2
        judged = [int(line.split()[1]) for line in said if line.startswith("judged")]
        if keeps_texts := store.info().texts:
            check_texts(store, judged)
        texts = [text for batch in range(BATCHES) for text in documents(batch)[1]]
        expected = store.check_many(texts)
    Store.repair(folder)
    with Store(folder, threads=1) as store:
        assert store.check_many(texts) == expected
        assert len(store) == kept
        if keeps_texts:
            check_texts(store, judged)
    shutil.rmtree(folder)


TEXTS = dict(pair for batch in range(BATCHES) for pair in zip(*documents(batch), strict=True))


def check_texts(store, judged):
    """All documents and all remembered duplicates have their texts, and what was judged is there."""
    for name, text in TEXTS.items():
        found = store.get(name)
        assert found is None or found.text == text, name
    for each in store.recent(limit=100):
        assert (each.text, each.survivor_text) == (TEXTS[each.id], TEXTS[each.duplicate_of])
    found = {(each.left.id, each.right.id, each.same) for each in store.judgements()}
    for each in store.judgements():
        assert [each.left.text, each.right.text] == [TEXTS[each.left.id], TEXTS[each.right.id]]
    for batch in judged:
        assert {(f"{batch}-0", f"{batch}-1", False), (f"{batch}-2", f"{batch}-0", True)} <= found, batch
