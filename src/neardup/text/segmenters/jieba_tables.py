"""Build the tables of a dictionary and its model for the kernels that cut Chinese texts."""

import math
from collections.abc import Iterable
from itertools import chain

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.kernels.text.jieba_routes import ALPHANUMERIC, LETTER, SIGNS, UNKNOWN_HAN, WordTables
from neardup.kernels.text.normalization import CLASS_SHIFT, TWO_BITS
from neardup.kernels.text.word_trie import (
    BASE_SHIFT,
    EMPTY,
    FIRST_WORD,
    FORBIDDEN,
    MOST_SLOTS,
    NO_WORD,
    place_children,
)
from neardup.text.segmenters.jieba_counts import WordCounts
from neardup.text.segmenters.jieba_data import IMPOSSIBLE, STATES, read_model
from neardup.text.unicode_tables import entries_of, fold_tables

FIRST_HAN, LAST_HAN = 0x4E00, 0x9FD5
"""The Chinese characters that jieba knows."""
INSIDE = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" + SIGNS
"""The other characters that its words may have, in the order of their numbers."""
BEFORE = (("E", "B"), ("S", "B"), ("B", "M"), ("M", "M"), ("B", "E"), ("M", "E"), ("E", "S"), ("S", "S"))
"""The pairs of states in the order of `WordTables.model`."""


def build_tables(counts: WordCounts, others: str = "") -> WordTables:
    """The tables for a dictionary, with the model of the package jieba. Takes about a second.

    Args:
        counts: the dictionary.
        others: characters besides those of the dictionary and the model that have numbers of their own.

    Raises:
        OptionError: the dictionary is too large.
        DataError: a file of jieba is damaged.
    """
    start, move, shown = read_model()
    words = list(counts.counts)
    codes = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = np.fromiter(map(len, words), np.int64, len(words))
    uses = np.repeat(np.fromiter(counts.counts.values(), np.float64, len(words)), sizes)
    numbers, many = _numbers(codes, uses, chain(others, *shown.values()))
    values, ranks, forbidden_from = _weights(counts)
    roots, labels, slots = _trie(np.where(codes < 0x10000, numbers[codes & 0xFFFF], 0), sizes, ranks, many)
    model = [
        -math.log(counts.total),
        *(start[each] for each in STATES),
        *(move[a][b] for a, b in BEFORE),
        forbidden_from,
    ]
    rows = np.full((many, len(STATES)), IMPOSSIBLE)
    for state, letter in enumerate(STATES):
        of = shown[letter]
        rows[numbers[np.fromiter(map(ord, of), np.int64, len(of))], state] = np.fromiter(
            of.values(), np.float64, len(of)
        )
    rows[: UNKNOWN_HAN + 1] = IMPOSSIBLE
    return WordTables(numbers, roots, labels, slots, values, rows, np.array(model))


def _numbers(codes: Array, uses: Array, of_model: Iterable[str]) -> tuple[Array, int]:
    """The number of each code point, and how many numbers there are; the characters that are used most have the lowest."""
    folds = fold_tables()
    letters = entries_of(folds.fold_index, folds.fold_blocks, np.arange(0x10000)) >> CLASS_SHIFT & TWO_BITS
    numbers = np.where(letters != 0, LETTER, 0).astype(np.uint16)
    numbers[[ord(each) for each in INSIDE]] = np.arange(ALPHANUMERIC, UNKNOWN_HAN)
    numbers[FIRST_HAN : LAST_HAN + 1] = UNKNOWN_HAN
    is_han = (codes >= FIRST_HAN) & (codes <= LAST_HAN)
    uses = np.bincount(codes[is_han] - FIRST_HAN, uses[is_han] + 1.0, LAST_HAN + 1 - FIRST_HAN).astype(np.float64)
    modelled = np.array([ord(each) - FIRST_HAN for each in of_model if FIRST_HAN <= ord(each) <= LAST_HAN])
    uses[modelled] += 0.5
    order = np.argsort(-uses, kind="stable")[: np.count_nonzero(uses)]
    numbers[FIRST_HAN + order] = np.arange(UNKNOWN_HAN + 1, UNKNOWN_HAN + 1 + len(order))
    return numbers, UNKNOWN_HAN + 1 + len(order)


def _weights(counts: WordCounts) -> tuple[Array, Array, int]:
    """The weight of each rank, and the rank of each word; from which rank on words are forbidden, though they have a count."""
    total = math.log(counts.total)
    forbidden = counts.forbidden
    kinds = {(word in forbidden, count) for word, count in counts.counts.items()} if forbidden else None
    distinct = sorted(kinds or {(False, count) for count in counts.counts.values()})
    distinct = [each for each in distinct if each[1]]
    rank_of = {kind: rank for rank, kind in enumerate(distinct, FIRST_WORD)} | {
        (False, 0): NO_WORD,
        (True, 0): FORBIDDEN,
    }
    ranks = [rank_of[word in forbidden, count] for word, count in counts.counts.items()]
    values = np.array([-np.inf, -np.inf, *(math.log(count) - total for _, count in distinct)])
    return values, np.array(ranks), FIRST_WORD + sum(not of_forbidden for of_forbidden, _ in distinct)


def _trie(numbers: Array, sizes: Array, ranks: Array, many: int) -> tuple[Array, Array, Array]:
    """The nodes of words: of the first characters, uint64[many], and below, with their labels, uint16[s] and uint64[s].

    numbers: of all characters of the words, one word after another; sizes: the characters of each; ranks: of each.
    """
    starts = np.cumsum(sizes) - sizes
    known = np.ones(len(sizes), np.bool_)
    known[np.searchsorted(starts, np.flatnonzero(numbers <= LETTER), "right") - 1] = False
    known &= sizes > 0
    starts, sizes, ranks = starts[known], sizes[known], ranks[known]
    nodes = numbers[starts].astype(np.int64)
    labels, parents = [np.arange(many)], [np.full(many, -1)]
    node_ranks = [np.full(many, NO_WORD)]
    node_ranks[0][nodes[sizes == 1]] = ranks[sizes == 1]
    begun, depth = 0, 1
    while (longer := sizes > depth).any():
        starts, sizes, ranks, nodes = starts[longer], sizes[longer], ranks[longer], nodes[longer]
        keys, places = np.unique(nodes << 16 | numbers[starts + depth], return_inverse=True)
        begun += len(labels[-1])
        labels.append(keys & 0xFFFF)
        parents.append(keys >> 16)
        node_ranks.append(np.full(len(keys), NO_WORD))
        ends = sizes == depth + 1
        node_ranks[-1][places[ends]] = ranks[ends]
        nodes = places + begun
        depth += 1
    label, parent, rank = np.concatenate(labels), np.concatenate(parents), np.concatenate(node_ranks)
    bases = _placed(label, parent, many)
    packed = bases.astype(np.uint64) << BASE_SHIFT | rank.astype(np.uint64)
    size = int(bases.max()) + many  # whatever character follows: kernels look without a check
    labels_of, slots = np.full(size, EMPTY, np.uint16), np.zeros(size, np.uint64)
    places = bases[parent[many:]] + label[many:]
    labels_of[places], slots[places] = label[many:], packed[many:]
    return packed[:many].copy(), labels_of, slots


def _placed(labels: Array, parents: Array, many: int) -> Array:
    """The base of each node."""
    counts = np.bincount(parents[many:], minlength=len(labels))
    firsts = np.zeros(len(labels), np.int64)
    firsts[np.unique(parents[many:])] = many + np.unique(parents[many:], return_index=True)[1]
    having = np.flatnonzero(counts)
    having = having[np.argsort(-counts[having], kind="stable")]
    size, placed = 2 * (len(labels) + many), False
    while not placed:
        if size > MOST_SLOTS:
            raise OptionError(
                f"The dictionary is too large: its words have {len(labels):,} different beginnings, too many for 2^31 places."
            )
        held, taken = np.zeros(size // 8 + 8, np.uint8), np.zeros(size // 8 + 8, np.uint8)
        bases = np.zeros(len(labels), np.int64)
        placed = place_children(having, firsts, counts, labels, held, taken, bases)
        size *= 2
    return bases
