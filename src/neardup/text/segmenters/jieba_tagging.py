"""The tokens of texts as jieba's `posseg` cuts them, and which have a tag of some parts of speech, by kernels."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate
from threading import Lock
from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.text.jieba_routes import BEHIND, WordTables
from neardup.kernels.text.jieba_tags import TagModel, TagScratch, tag_documents
from neardup.kernels.text.jieba_words import NEEDED
from neardup.kernels.text.tokens import WORD
from neardup.recipe.files.jieba_files import tags_digest
from neardup.text.normalizers import FoldedTexts
from neardup.text.segmenters.jieba import CHARACTERS_AT_ONCE, cut_scratch
from neardup.text.segmenters.jieba_cache import TYPES, Types, digest_of_parts, kept
from neardup.text.segmenters.jieba_counts import WordCounts
from neardup.text.segmenters.jieba_data import STATES, State, read_counts, read_tag_model
from neardup.text.segmenters.jieba_tables import build_tables
from neardup.text.segmenters.tokens import Tokens
from neardup.text.unicode_tables import fold_tables

NO_SIGNS = "%-"
"""Signs that `posseg` takes for separators."""
PLACES = sorted(STATES)
"""The places in a word in the order of states; see `neardup.kernels.text.jieba_tags`."""
MODEL_TYPES: Types = {
    "places": ("uint8", 1),
    "wanted": ("bool", 1),
    "start": ("float64", 1),
    "before_firsts": ("int64", 1),
    "before": ("int64", 1),
    "move": ("float64", 1),
    "of_firsts": ("int64", 1),
    "of": ("int64", 1),
    "shown_firsts": ("int64", 1),
    "shown_states": ("int64", 1),
    "shown": ("float64", 1),
}
_OF_MODEL = "model_"
_LOADING = Lock()


class TagTables(NamedTuple):
    """A dictionary whose words are told apart by their tags, and a model of tags."""

    words: WordTables
    model: TagModel


def tagged_tokens(
    folded: FoldedTexts, tags: tuple[str, ...], characters: int = CHARACTERS_AT_ONCE
) -> tuple[Tokens, Array]:
    """All tokens of texts, and which of those with two characters or more have one of the tags: bool[t].

    Raises:
        DataError: a file of the package jieba is damaged.
    """
    with _LOADING:  # several threads may need them at once
        tables = tag_tables(tags)
    most = 1 + int(folded.offsets[-1] - folded.offsets[0])
    starts, ends, wanted = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.bool_)
    documents, reached = np.empty(len(folded) + 1, np.int64), np.zeros(NEEDED + 1, np.int64)
    given = folded.data, folded.offsets, *tables, fold_tables()
    found = starts, ends, wanted, documents, reached
    tag_documents(*given, cut_scratch(characters), _scratch(characters, tables), *found)
    while reached[NEEDED]:
        characters *= 2
        tag_documents(*given, cut_scratch(characters), _scratch(characters, tables), *found)
    t = int(documents[-1])
    return Tokens(folded.data, starts[:t], ends[:t], np.full(t, WORD, np.uint8), documents), wanted[:t]


def _scratch(characters: int, tables: TagTables) -> TagScratch:
    n, states = characters + BEHIND + 1, len(tables.model.places)
    return TagScratch(
        np.empty((n, states), np.uint8),
        np.empty((2, states)),
        np.empty((2, states), np.bool_),
        np.empty(states),
        np.empty(n, np.int64),
    )


@lru_cache(1)
def tag_tables(tags: tuple[str, ...]) -> TagTables:
    """The tables for these tags, which takes some seconds if they are not in the user's cache folder.

    Raises:
        DataError: a file of the package jieba is damaged.
    """
    types = TYPES | {_OF_MODEL + name: type_ for name, type_ in MODEL_TYPES.items()}
    found = kept("jieba-tags", digest_of_parts(tags_digest(), tags), types, lambda: _build(tags))
    return TagTables(
        WordTables(**{name: found[name] for name in TYPES}),
        TagModel(**{name: found[_OF_MODEL + name] for name in MODEL_TYPES}),
    )


def _build(tags: tuple[str, ...]) -> dict[str, Array]:
    counts, total, tag_of = read_counts()
    given = read_tag_model()
    wanted = {word for word, tag in tag_of.items() if tag in tags}
    characters = {each for of_state in given.shown.values() for each in of_state} | set(given.of)
    words = build_tables(WordCounts(counts, total, wanted), "".join(sorted(characters)))
    numbers = words.numbers.copy()
    numbers[[ord(each) for each in NO_SIGNS]] = 0
    states: list[State] = sorted(given.start)
    place = {state: number for number, state in enumerate(states)}
    before = [[(place[x], given.move[x][y]) for x in states if y in given.move[x]] for y in states]
    of: list[list[int]] = [[] for _ in words.roots]
    shown: list[list[tuple[int, float]]] = [[] for _ in words.roots]
    for character, its in given.of.items():
        of[numbers[ord(character)]] = [place[state] for state in its]
    for state, of_state in given.shown.items():
        for character, weight in of_state.items():
            shown[numbers[ord(character)]].append((place[state], weight))
    model = TagModel(
        np.array([PLACES.index(letter) for letter, _ in states], np.uint8),
        np.array([tag in tags for _, tag in states]),
        np.array([given.start[state] for state in states]),
        _firsts(before),
        np.array([x for each in before for x, _ in each]),
        np.array([weight for each in before for _, weight in each]),
        _firsts(of),
        np.array([state for each in of for state in each]),
        _firsts(shown),
        np.array([state for each in shown for state, _ in each]),
        np.array([weight for each in shown for _, weight in each]),
    )
    named = {_OF_MODEL + name: table for name, table in model._asdict().items()}
    return words._replace(numbers=numbers)._asdict() | named


def _firsts(lists: Iterable[list[int] | list[tuple[int, float]]]) -> Array:
    """Where each list begins in all of them joined, and where the last ends."""
    return np.array([0, *accumulate(map(len, lists))])
