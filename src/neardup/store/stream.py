"""`Stream`: decide documents one after another, each new or a duplicate of a kept one; what lasts is a store."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import pyarrow as pa

from neardup.errors import InputError, OptionError
from neardup.hamming.index.files.folder import is_index
from neardup.hamming.index.index import Index
from neardup.io.storage.places import local_path
from neardup.options import DedupOptions, MatchingOptions, refuse_unknown
from neardup.recipe.kinds import ElementRecipe
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.store.back_ends import FOLDER, back_end_of, shown_place
from neardup.store.session.calls import demand_process
from neardup.store.session.writer import Files
from neardup.store.store import Store
from neardup.text.columns import as_text_arrays


@dataclass(frozen=True, slots=True)
class Match:
    """The kept document that a new document duplicates: of all that match, the most similar; of equally similar ones, the first.

    For a text that was removed before, it is the survivor that it had then.

    Attributes:
        id: the id of the kept document.
        similarity: of the two texts; None if distance alone decides.
        distance: the Hamming distance of the two fingerprints.
        exact: whether the two texts are equal after normalization.
    """

    id: Any
    similarity: float | None
    distance: int
    exact: bool = False


class Stream:
    """Keeps a document when no kept document matches; otherwise the document is a duplicate of its best match.

    These are the decisions that `deduplicate(documents, cluster="star", keep="first")` takes on all documents at once, in the same
    order and with the same options, however many come at a time. The documents lie in a folder, which is a store: `Store` opens it,
    and has more questions and changes. Without a folder, they lie in a temporary one until the stream is closed or forgotten.

    A document whose id is kept already, with another text, is an update: the kept document is removed, and the new text is decided.
    `updated` counts them; `Store` says of each document whether it is one.

    >>> stream = Stream()
    >>> stream.add("a", "All the bells of the town rang at noon on Sunday, as ever.")
    >>> stream.add("b", "ALL the bells of the town rang at noon on Sunday, as ever!")
    Match(id='a', similarity=1.0, distance=0, exact=False)
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        recipe: RecipeLike | None = None,
        threads: int | None = None,
        **options: Unpack[MatchingOptions],
    ) -> None:
        """Open a stream.

        Args:
            path: the folder of a store; it is made if there is none. What was added is durable when `flush` or `close` returns, and
                after some thousand documents. None for a temporary folder, nothing of which lasts.
            recipe: how texts are normalized, and fingerprints made; `Recipe()` by default. A store has its own.
            threads: threads that decide documents; by default, as many as there are processors. They change no decision.
            **options: method (exact by default), min_similarity, similarity, max_distance. A store has its own.

        Raises:
            OptionError: an option has a value that is not allowed, or differs from that of the store; the folder is that of an
                index; the store does not keep the first of matching documents; or the recipe is of given sets or lists.
            RecipeMismatch: the store has another recipe.
            InputError: another process writes to the store, or the folder holds other files.
            DataError: the store is damaged.
        """
        refuse_unknown(options, Stream.__init__)
        _refuse_indexes(path)
        made_by = None if recipe is None else recipe_of(recipe)
        if isinstance(made_by, ElementRecipe):
            raise OptionError("`recipe`: this one is of given sets or lists. A stream takes texts: give one for texts.")
        self._is_lasting, self._process, self._is_closed = path is not None, os.getpid(), False
        self._updated = 0
        if path is None:
            folder = tempfile.mkdtemp(prefix="neardup-")
            try:
                self._store: Store = _Fleeting(folder, made_by, threads, options)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            self._removal = weakref.finalize(self, _remove, self._store, folder, self._process)
            return
        self._store = Store(path, durable="batch", threads=threads, recipe=made_by, **options)
        if self._store.keep != "first":
            self._store.close()
            raise OptionError(
                f"The store at {path} has `keep={self._store.keep!r}`, and a stream keeps the first of matching documents. "
                "Use `Store`, or name another folder."
            )

    @property
    def path(self) -> Path | None:
        """The folder of the store; None if nothing lasts."""
        return self._store.path if self._is_lasting else None

    @property
    def updated(self) -> int:
        """How many updates this stream was given so far: documents of whose id another text was kept, which is removed."""
        return self._updated

    @property
    def recipe(self) -> Recipe:
        """How texts are normalized, and fingerprints made."""
        return self._store.recipe

    @property
    def options(self) -> DedupOptions:
        """How documents match."""
        return self._store.options

    def __len__(self) -> int:
        """The number of kept documents."""
        return len(self._usable())

    def __repr__(self) -> str:
        where = repr(str(self.path)) if self._is_lasting else "in a temporary folder"
        state = "closed" if self._is_closed else f"{len(self):,} documents"
        return f"Stream({where}, {state}, {self.options.method}, {self.options.compared_by})"

    def add(self, id: int | str, text: str) -> Match | None:  # noqa: A002
        """Decide one document. Returns None if it is new, and keeps it; otherwise, the kept document that it duplicates."""
        return self.add_many([id], [text])[0]

    def add_many(self, ids: Any, texts: Any) -> list[Match | None]:
        """Decide documents in order, with the same answers as one `add` after another.

        Args:
            ids: integers and strings, in a list, an array, an Arrow array, or another iterable.
            texts: strings, in a list, an Arrow array or another iterable.

        Raises:
            OptionError: there are not as many ids as texts, or one of them is none. Nothing is added.
            DataError: a text is null, or not valid Unicode. Nothing is added.
        """
        store, names = self._usable(), _as_list(ids)
        strings = [text for array in as_text_arrays(texts) for text in array.to_pylist()]
        answers = store.check_and_add_many(names, strings)
        self._updated += sum(answer.is_update for answer in answers)
        return [
            None
            if answer.is_new
            else Match(answer.matches[0].id, answer.matches[0].similarity, answer.matches[0].distance, answer.exact)
            for answer in answers
        ]

    def flush(self) -> None:
        """Make durable what was added. In a temporary folder, nothing is."""
        self._usable().flush()

    def close(self) -> None:
        """Make everything durable, and let others write to the store; or remove the temporary folder."""
        if self._is_closed:
            return
        store = self._usable()
        self._is_closed = True
        if self._is_lasting:
            store.close()
        else:
            self._removal()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _usable(self) -> Store:
        if self._is_closed:
            raise InputError("This stream is closed. Open another one.")
        demand_process("This stream", self._process)
        return self._store


class _Fleeting(Store):
    """A store that is removed when it is closed, so nothing of it is ever synced."""

    def __init__(self, path: str, recipe: Recipe | None, threads: int | None, options: MatchingOptions) -> None:
        self._kind = FOLDER
        how: dict[str, Any] = {"mode": "w", "wait": 0.0, "durable": "batch", "lasts": False}
        self._files = Files(path, **how, threads=threads, recipe=recipe, given=dict(options))


def _remove(store: Store, folder: str, process: int) -> None:
    """Remove a temporary store, but not from a fork of the process that uses it."""
    if os.getpid() == process:
        store.close()
        shutil.rmtree(folder, ignore_errors=True)


def _refuse_indexes(path: Any) -> None:
    """Refuse what was a stream's before streams decided by similarity, and what is no folder."""
    advice = "a stream decides by the similarity of texts, which an index does not have. Name another folder, or none."
    if isinstance(path, Index):
        raise OptionError(
            f"`path` is an index: {advice} To decide by distance, save the index and use `neardup filter --index FOLDER`; to ask "
            "it, use `Index.query`."
        )
    if back_end_of(path).is_shared:
        raise OptionError(
            f"{shown_place(path)} is in a database, which several services share, and a stream is for one process. "
            "Use `Store`."
        )
    if path is not None and not isinstance(path, str | Path):
        raise OptionError(f"`path={path!r}`: give the folder of a store, or nothing for a temporary one.")
    if path is not None and is_index(local_path(path, "a store")):
        raise OptionError(
            f"{path} is an index: {advice} To decide by distance, use `neardup filter --index {path}`; to ask it, use `Index.open`."
        )


def _as_list(ids: Any) -> list[Any]:
    if isinstance(ids, str | bytes | int):
        raise OptionError(f"`ids={ids!r}` is one id: give a list, even of one: [{ids!r}].")
    if isinstance(ids, pa.Array | pa.ChunkedArray):
        return list(ids.to_pylist())
    if not isinstance(ids, Iterable):
        raise OptionError(f"ids is a {type(ids).__name__}: give a list of integers or strings.")
    return list(ids)  # Python's and NumPy's integers are ids
