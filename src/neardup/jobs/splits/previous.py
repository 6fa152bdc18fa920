"""PREVIOUS: an earlier split, in which nothing moves. New documents go where they match; what matches two sides is in conflict."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array, Bools
from neardup.errors import DECODER_ERRORS, DataError, InputError, OptionError
from neardup.fingerprints.documents import Documents, KeptValues, join_documents, read_documents
from neardup.io.checks.number_files import refuse_lone_numbers
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.protocol import Corpus, pair_of
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards
from neardup.io.endings import SPLIT_SUMMARY
from neardup.io.storage.places import Place, place_of
from neardup.matching.equal_texts import exact_representatives
from neardup.matching.matches import list_matches
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.presets import RECIPES
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import similarity_to_store
from neardup.survivors.splits.deal import FREE
from neardup.survivors.splits.options import SplitOptions
from neardup.survivors.splits.summary import SplitSummary
from neardup.survivors.splits.units import together
from neardup.text.preference import groups_of, named_groups

SAME = ("min_similarity", "similarity", "within", "group")
"""The options of a split that must be as before: with others, documents of two sides may match."""
SAME_READING = ("html", "elements")


@dataclass(frozen=True, slots=True)
class FinishedSplit:
    """A split that was written to a folder.

    Attributes:
        folder: where it is.
        summary: its counts and options; `files`: the entries about files.
    """

    folder: Place
    summary: SplitSummary
    files: dict[str, Any]

    def place(self, side: str) -> Place:
        """The file or the folder of a side."""
        return self.folder / str(self.files["sides"][side])

    def shards(self, side: str, reading: Reading) -> list[Shard]:
        """The files of a side, or of the conflicts; none if no text file belongs to it."""
        place = self.place(side)
        if self.files["sides"][side].endswith("/") and not place.is_dir():
            return []
        return find_shards([str(place)], reading=reading)


def read_split(folder: str | Path) -> FinishedSplit:
    """Read the summary of a split.

    Raises:
        InputError: the folder has none.
        DataError: it is damaged.
    """
    place = place_of(folder)
    path = place / SPLIT_SUMMARY
    if not path.is_file():
        raise InputError(
            f"{folder} is not the folder of a split: it has no {SPLIT_SUMMARY}. Give a folder that `neardup split` wrote."
        )
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        files = known.pop("files")
        found = FinishedSplit(place, SplitSummary.of_record(known), files)
        if not all(isinstance(found.files["sides"][each.side], str) for each in found.summary.sides):
            raise ValueError
        _ = [found.summary.options[name] for name in SAME], found.summary.recipe["digest"]
    except DECODER_ERRORS:
        raise DataError(f"{path} is not the summary of a split. Give the folder of another, or split again.") from None
    return found


@dataclass(slots=True)
class Previous:
    """The documents of earlier splits.

    Attributes:
        corpus: all of them.
        side_of_shard: the side of each file.
        within, group: the columns that matter.
        known: how many documents of the inputs were dealt before; counted by `fix`.
    """

    corpus: FileCorpus
    side_of_shard: Sequence[int]
    how: SplitOptions
    within: str | None
    known: int = 0

    def fix(
        self,
        corpus: Corpus,
        recipe: Recipe,
        options: DedupOptions,
        documents: Documents,
        label: Array,
        groups: Array,
        progress: Progress,
    ) -> tuple[Array, Array]:
        """The labels and the sides of the documents of the inputs, int64[n] each: FREE where nothing says the side.

        A document whose text was dealt before stays on its side. The others of a unit go to the side that the unit matches, or
        whose group it has. If these are two sides, the unit is divided: what is connected without documents that were dealt before
        is a unit of its own. If that still belongs to two sides, it is in conflict, and its side is the number of sides.

        Args:
            corpus, documents: the inputs; `label`: int64[n], the unit of each document; `groups`: int64[rows], by `how.group`.
        """
        values = tuple(dict.fromkeys(name for name in (self.within, self.how.group) if name is not None))
        others = read_documents(
            self.corpus, recipe, progress=progress, resources=options.resources, values=KeptValues(values)
        )
        n, rows = len(documents), np.flatnonzero(documents.valid)
        both = join_documents(documents, others, resources=options.resources)
        side = np.full(len(both), FREE)
        for number, of_shard in enumerate(self.side_of_shard):
            side[n:][self.corpus.rows_of(number)] = of_shard
        side[~both.valid] = FREE
        within = None if self.within is None else groups_of(both.values[self.within])
        self._demand_apart(both, n, side, within)
        every = np.concatenate([n + np.flatnonzero(others.valid), rows])
        first = np.full(len(both), FREE)
        first[every] = exact_representatives(both, every, within)
        side[rows] = side[first[rows]]
        old = side[rows] != FREE
        self.known = int(np.count_nonzero(old))
        touched = np.zeros((n, len(self.how.sides)), np.bool_)
        pair = pair_of(corpus, n, self.corpus)
        for left, right in _pairs(pair, both, recipe, options, progress, first_of_other=n):
            touched[left, side[right]] = True
        touched[rows] |= touched[_first_of(documents, rows, within)]
        touched[rows[old], side[rows[old]]] = True
        if self.how.group is not None:
            touched[rows] |= _touched_by_groups(
                named_groups(both.values[self.how.group])[0], side, rows, touched.shape[1]
            )
        return self._settle(corpus, recipe, options, documents, label, groups, touched[rows], side[rows], progress)

    def _settle(
        self,
        corpus: Corpus,
        recipe: Recipe,
        options: DedupOptions,
        documents: Documents,
        label: Array,
        groups: Array,
        touched: Bools,
        known: Array,
        progress: Progress,
    ) -> tuple[Array, Array]:
        """Decide from the sides that each document touches (bool[n, sides]), and those of what was dealt before (int64[n])."""
        rows, label, old = np.flatnonzero(documents.valid), label.copy(), known != FREE
        side = _side_of_units(label, touched)
        apart = side == len(self.how.sides)
        rest = rows[apart & ~old]
        if len(rest):
            is_rest = np.zeros(len(documents), np.bool_)
            is_rest[rest] = True
            within = None if self.within is None else groups_of(documents.values[self.within])
            joined = _first_of(documents, rest, within)
            links = list(_pairs(corpus, documents.only(is_rest), recipe, options, progress))
            label[apart & ~old] = rest[_connected(rest, joined, groups[rest], links)]
        label[apart & old] = rows[apart & old]
        side = _side_of_units(label, touched)
        side[old] = known[old]
        return label, side

    def _demand_apart(self, both: Documents, n: int, side: Array, within: Array | None) -> None:
        """Refuse an earlier split of which two sides have the same text."""
        rows = n + np.flatnonzero(both.valid[n:])
        first = exact_representatives(both, rows, within)
        wrong = np.flatnonzero(side[first] != side[rows])
        if len(wrong):
            names, places = self.corpus.locate(np.array([first[wrong[0]], rows[wrong[0]]]) - n)
            one, two = (f"{name}, row {int(place)}," for name, place in zip(names, places, strict=True))
            raise DataError(
                f"{one} and {two} have the same text, on two sides: this is no longer the split that was written. Split all again."
            )


def _first_of(documents: Documents, rows: Array, within: Array | None) -> Array:
    """int64[n]: the first of some rows of the inputs that has the text of each."""
    return exact_representatives(documents, rows, None if within is None else within[: len(documents)])


def _pairs(
    corpus: Corpus, documents: Documents, recipe: Recipe, options: DedupOptions, progress: Progress, **how: Any
) -> Iterator[tuple[Array, Array]]:
    """All matches of texts that differ."""
    for part in list_matches(corpus, documents, recipe, options=options, progress=progress, distinct=True, **how):
        yield part.left, part.right


def _side_of_units(label: Array, touched: Bools) -> Array:
    """int64[n]: the side of the unit of each document: the one that its documents touch, FREE for none, their number for two."""
    first, unit = np.unique(label, return_inverse=True)
    of_unit = np.zeros((len(first), touched.shape[1]), np.bool_)
    np.logical_or.at(of_unit, unit, touched)
    count = of_unit.sum(axis=1)
    found: Array = np.where(count == 1, of_unit.argmax(axis=1), np.where(count == 0, FREE, touched.shape[1]))[unit]
    return found


def _touched_by_groups(codes: Array, side: Array, rows: Array, sides: int) -> Bools:
    """bool[n, sides]: the sides on which a document with the group of each row was dealt before."""
    found = np.zeros((int(codes.max(initial=-1)) + 2, sides), np.bool_)  # the last is for documents without a group
    dealt = np.flatnonzero((side != FREE) & (codes >= 0))
    found[codes[dealt], side[dealt]] = True
    of_rows: Bools = found[codes[rows]]
    return of_rows


def _connected(rows: Array, first: Array, groups: Array, links: Iterable[tuple[Array, Array]]) -> Array:
    """int64[n]: the place of the first row that each of some rows (ascending) is connected with."""
    labels = together(len(rows), np.searchsorted(rows, first), groups)
    for left, right in links:
        a, b = (labels[np.searchsorted(rows, each)] for each in (left, right))
        labels = labels[_joined(len(rows), a, b)[labels]] if len(a) else labels
    return labels


def _joined(n: int, left: Array, right: Array) -> Array:
    """int64[n]: the first of what pairs connect each of n places with."""
    from neardup.survivors.listed_pairs import connected

    low, high = np.minimum(left, right), np.maximum(left, right)
    order = np.argsort(high, kind="stable")
    order = order[low[order] != high[order]]
    return connected(n, [(low[order], high[order])])


def open_previous(
    folders: Sequence[str | Path],
    how: SplitOptions,
    recipe: Recipe,
    options: DedupOptions,
    reading: Reading,
    *,
    on_error: str,
    progress: Progress,
) -> Previous:
    """Open the folders of earlier splits.

    Raises:
        InputError: a folder is not that of a split.
        OptionError: documents matched in another way, or a side has no share.
    """
    if options.functions:
        raise OptionError(
            "`within`: with `previous`, give the name of a column; whether a function is the one of then cannot be known."
        )
    shards, sides = list[Shard](), list[int]()
    for given in folders:
        found = read_split(given)
        _demand_same(found, str(given), how, recipe, options, reading)
        for each in found.summary.sides:
            files = found.shards(each.side, reading)
            shards += files
            sides += [how.sides.index(each.side)] * len(files)
    values = [name for name in (options.grouped_by, how.group) if name is not None]
    corpus = FileCorpus(
        shards,
        reading.columns(dict.fromkeys(values), asked_by=options.columns_asked_by | how.columns_asked_by),
        on_error=on_error,
        progress=progress,
        resources=options.resources,
        refine=refuse_lone_numbers(shards),
        demands_text=False,
    )
    corpus.check()
    return Previous(corpus, sides, how, options.grouped_by)


def _demand_same(
    found: FinishedSplit, name: str, how: SplitOptions, recipe: Recipe, options: DedupOptions, reading: Reading
) -> None:
    """Refuse another way to match than that of an earlier split, and sides that have no share."""
    now = {
        "min_similarity": options.min_similarity,
        "similarity": similarity_to_store(options.similarity),
        "within": options.as_dict()["within"],
        "group": how.group,
    }
    before = found.summary.options
    different = [(each, before[each], now[each]) for each in SAME if json.loads(json.dumps(now[each])) != before[each]]
    if found.summary.recipe["digest"] != recipe.digest():
        names = {each.recipe.digest(): name for name, each in RECIPES.items()}
        then, given = (names.get(digest, digest) for digest in (found.summary.recipe["digest"], recipe.digest()))
        different.append(("recipe", then, given))
    different += [
        (each, found.files.get(each), getattr(reading, each))
        for each in SAME_READING
        if found.files.get(each) != getattr(reading, each)
    ]
    if different:
        told = "; ".join(f"`{option}` was {then!r}, and is {new!r}" for option, then, new in different)
        raise OptionError(
            f"`previous`: {name} was split in another way, so documents of two of its sides may match: {told}. Give the same as "
            "then, or split all again without `previous`."
        )
    lost = [each.side for each in found.summary.sides if each.side not in how.sides]
    if lost:
        raise OptionError(
            f"`previous`: {name} has the side {lost[0]!r}, and `shares` has {', '.join(how.sides)}. Nothing moves, so give that "
            "side a share, too."
        )
