"""REPLICAS: the folders in which services keep what they know of a store in PostgreSQL, how far it goes, and their files."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from shutil import rmtree
from typing import Any

from neardup.errors import InputError, NeardupError
from neardup.io.outputs.growing_file import to_disk
from neardup.matching.text_features import Texts
from neardup.recipe.short_rule import NAME
from neardup.store.postgresql.facts import SharedFacts
from neardup.store.postgresql.log_rows import NO_REQUEST, Head
from neardup.store.postgresql.places import DatabasePlace
from neardup.store.session.folder import LOCK, RECORD, REPLICA, REPLICA_MARK, is_store, writing
from neardup.store.session.writer import Files


class OutdatedError(Exception):
    """A replica cannot follow, as it is damaged, or as the log begins later: it must be made anew."""


@dataclass(frozen=True)
class Followed:
    """How far a replica goes: a fact of its record.

    Attributes:
        place: of the store, as messages show it.
        store: which it is; see `Head`.
        rows, position, request, documents, removed: of the last change that it has all of; see `Head`.
        upto, upto_request: of the change up to which it may have some documents and texts; None if none.
    """

    place: str
    store: str
    rows: int
    position: int = 0
    request: str = NO_REQUEST
    documents: int = 0
    removed: int = 0
    upto: int | None = None
    upto_request: str | None = None

    def after(self, head: Head) -> "Followed":
        """When all changes are there."""
        return Followed(self.place, head.id, head.rows, head.position, head.request, head.documents, head.removed)

    def on_the_way(self, head: Head) -> "Followed":
        """While some of what is new is there."""
        return replace(self, upto=head.position, upto_request=head.request)

    def is_at(self, head: Head) -> bool:
        """Whether nothing is missing."""
        mine = (self.store, self.rows, self.position, self.request, self.documents, self.removed, self.upto)
        return mine == (head.id, head.rows, head.position, head.request, head.documents, head.removed, None)

    def to_store(self) -> dict[str, Any]:
        """As the record has it."""
        return asdict(self)


def folders(place: DatabasePlace, identity: str) -> Iterator[Path]:
    """The folders that may be used for the replica of a store: the one that the place names, or the first free one in the cache.

    Several services on a machine need one each.
    """
    if place.replica is not None:
        yield place.replica
        return
    home = _cache() / "replicas" / identity
    for number in count(1):
        yield home / str(number)


def _cache() -> Path:
    if chosen := os.environ.get("NEARDUP_CACHE_DIR"):
        return Path(chosen)
    given = os.environ.get("XDG_CACHE_HOME")
    if given and Path(given).is_absolute():
        return Path(given) / "neardup"
    try:
        home = Path.home()
    except RuntimeError:
        raise InputError(
            "This user has no home for a cache: add `replica=FOLDER` to the parameters of the place, or set NEARDUP_CACHE_DIR."
        ) from None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "neardup"


def marked(folder: Path) -> str | None:
    """Which store a folder is a replica of; None if it is none."""
    try:
        return (folder / REPLICA_MARK).read_text(errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise InputError(f"{folder} cannot be read: {problem.strerror}. Name another folder.") from None


def mark(folder: Path, identity: str, wait: float) -> None:
    """Say of a folder that it is that of a replica; it must be one, or empty, or not there. `wait`: see `writing`.

    Raises:
        InputError: it is another folder.
        BusyError: another process uses it.
    """
    others = _others(folder)  # before the mark is looked for: who makes a replica marks it first
    found = marked(folder)
    if found == identity:
        return
    if found is not None:
        raise InputError(f"{folder} is a replica of another store. Name another folder, or remove this one.")
    if others or is_store(folder):
        raise InputError(f"{folder} is there, and is no replica. Name a folder that is empty, or not there.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{folder} cannot be made: {problem.strerror}. Name another folder.") from None
    with writing(folder, wait):
        beside = folder / f"{REPLICA_MARK}.new"
        try:
            beside.write_text(identity)
            beside.replace(folder / REPLICA_MARK)
            to_disk(folder)
        except OSError as problem:
            raise InputError(f"{folder} cannot be written to: {problem.strerror}. Name another folder.") from None


def _others(folder: Path, own: str = REPLICA_MARK) -> bool:
    """Whether a folder is a file, or has files other than those of a mark; `own`: how the names of these begin."""
    try:
        return any(path.name != LOCK and not path.name.startswith(own) for path in folder.iterdir())
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        return True


def has_no_record(folder: Path) -> bool:
    """Whether a marked folder has files of a replica, and lacks the record of them."""
    return _others(folder, RECORD) and not is_store(folder)  # in this order: the record is made first


def empty(folder: Path, identity: str) -> None:
    """Remove all that a replica has, which nobody uses; an InputError if it is another folder, or is used."""
    if marked(folder) != identity:
        raise InputError(f"{folder} is no replica of this store. Name another folder.")
    with writing(folder, 0):
        for path in folder.iterdir():
            if path.name not in (LOCK, REPLICA_MARK):
                rmtree(path) if path.is_dir() else path.unlink()
        to_disk(folder)


class Replica:
    """The files of a store that follows another one, parts of which can be taken back as if they had not been.

    Attributes:
        files: those of a store in the folder.
        at: how far they go.
        must_reset: whether `reset` must come before anything else, as something has failed.
    """

    def __init__(
        self, folder: Path, place: DatabasePlace, facts: SharedFacts, *, wait: float, threads: int | None
    ) -> None:
        """Open the replica in a folder, or make it; an OutdatedError if it has not what it says."""
        first = Followed(place.shown, facts.id, facts.rows)
        self.must_reset = False
        facts_of_replica = {
            "store": facts.id,
            "plan": facts.plan,
            "recipe": facts.fields,
            REPLICA: first.to_store(),
            NAME: facts.short_rule,
        }
        how: dict[str, Any] = {"mode": "w", "wait": wait, "durable": "batch", "threads": threads}
        self.files = Files(folder, **how, recipe=facts.recipe, given=facts.rules, replica=facts_of_replica)
        self.at = self._at()
        if self.at.upto is None and self.counts != (self.at.documents, self.at.removed):
            self.files.abandon()
            raise OutdatedError

    def _at(self) -> Followed:
        return Followed(**self.files.record.facts()[REPLICA])

    @property
    def counts(self) -> tuple[int, int]:
        """How many documents, and texts that were not kept, have got a number."""
        return len(self.files.contents), self.files.removed

    @cached_property
    def no_texts(self) -> Texts:
        """What is kept of no texts."""
        return self.files.texts([])

    @contextlib.contextmanager
    def part(self) -> Iterator[None]:
        """Changes of the replica that are taken back alone if something fails; `reset` must come then."""
        files = self.files
        with files.changing():
            files.record.mark()
        self.must_reset = True
        try:
            yield
            with files.changing():
                files.record.release()
        except BaseException:
            try:
                files.record.undo()
            except NeardupError:  # then all of it was rolled back
                files.record.roll_back()
            raise
        self.must_reset = False

    def reset(self) -> None:
        """Open the replica as it was before what has failed."""
        self.must_reset = True
        with contextlib.suppress(Exception):  # what cannot be kept comes from the log again
            self.files.contents.sync()
            self.files.record.commit()
        self.files.reopen()
        self.at = self._at()
        self.must_reset = False

    def follows(self, head: Head) -> None:
        """Note that the replica has all that a head tells."""
        at = self.at.after(head)
        state = None if head.state is None else json.loads(head.state)
        self.files.acknowledge({REPLICA: at.to_store(), "state": state})
        self.at, self.files.state = at, state

    def close(self) -> None:
        """Make durable what the database has, too, and close the files."""
        if self.must_reset:
            self.files.abandon()
        else:
            self.files.close()
