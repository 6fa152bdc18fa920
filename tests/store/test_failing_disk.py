"""Whatever a call writes, a disk that fails is told of in words: no public method of a store lets an `OSError` out."""

import contextlib
import errno
import os
import shutil
from pathlib import Path
from unittest import mock

import pytest
from test_transactions import CALLS

import neardup as nd
from neardup.store.store import Store

NIGHT = "The night ferry to the islands leaves at ten past nine from the old customs pier."
WRITES = (
    "os.pwrite",
    "os.ftruncate",
    "os.fsync",
    "os.open",
    "os.replace",
    "os.mkdir",
    "pathlib.Path.open",
    "pathlib.Path.mkdir",
)
"""Functions through which files are written."""
WRITING = ["backup", "check_and_add", "check_and_add_many", "compact", "expire", "export", "flush", "judge", "remove"]


def failing(name):
    """A function that fails as on a full disk, where it is to write."""
    original = {"os": os, "pathlib.Path": Path}[name.rpartition(".")[0]].__dict__[name.rpartition(".")[2]]

    def fails(*arguments, **named):
        how = arguments[1] if len(arguments) > 1 else "r"
        if name == "os.open" and not how & (os.O_CREAT | os.O_WRONLY):
            return original(*arguments, **named)
        if name == "pathlib.Path.open" and not set(how) & set("wax+"):
            return original(*arguments, **named)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return mock.patch(name, fails)


def filled(path):
    with Store(path, min_similarity=0.6, texts=True, floor=0.4) as store:
        store.check_and_add_many(
            ["a", "b", "c"], [NIGHT, NIGHT.replace("night", "evening"), "Bread and salt and water."]
        )
        store.remove(["c"])


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("name", WRITING)
def test_no_call_lets_an_error_of_the_disk_out(tmp_path, name, write):
    filled(tmp_path / "s")
    for number, call in enumerate(CALLS[name]):
        shutil.copytree(tmp_path / "s", tmp_path / str(number))
        store = Store(tmp_path / str(number))
        try:
            with failing(write), contextlib.suppress(nd.NeardupError, ZeroDivisionError):
                call(store, tmp_path / f"beside{number}")
        finally:
            with contextlib.suppress(nd.NeardupError):
                store.close()
        with Store(tmp_path / str(number)) as store:
            assert store.verify().is_sound


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("is_there", [False, True])
def test_no_store_is_opened_or_closed_with_an_error_of_the_disk(tmp_path, is_there, write):
    if is_there:
        filled(tmp_path / "s")
    with failing(write), contextlib.suppress(nd.NeardupError):
        store = Store(tmp_path / "s", durable="batch")
        with contextlib.suppress(nd.NeardupError):
            store.check_and_add("d", "Something else that nobody has ever read before.")
        store.close()
    with Store(tmp_path / "s") as store:
        assert store.verify().is_sound


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("maker", ["repair", "from_export", "build"])
def test_no_store_is_made_with_an_error_of_the_disk(tmp_path, maker, write):
    filled(tmp_path / "s")
    with Store(tmp_path / "s") as store:
        store.export(tmp_path / "export")
    (tmp_path / "in.txt").write_text(NIGHT + "\n" + NIGHT)
    nd.deduplicate_files(
        [tmp_path / "in.txt"], tmp_path / "out.txt", lines=True, method="exact", cluster="star", keep="first"
    )
    make = {
        "repair": lambda: Store.repair(tmp_path / "s"),
        "from_export": lambda: Store.from_export(tmp_path / "new", tmp_path / "export").close(),
        "build": lambda: Store.build(tmp_path / "new", tmp_path / "out.txt").close(),
    }[maker]
    with failing(write), contextlib.suppress(nd.NeardupError):
        make()
