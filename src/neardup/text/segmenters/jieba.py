"""Chinese words as the package jieba cuts them, by kernels, with its dictionary and its model; any number of threads at once."""

from functools import lru_cache
from threading import Lock

import numpy as np

from neardup.kernels.text.jieba_routes import BEHIND, CutScratch, WordTables
from neardup.kernels.text.jieba_words import FORBID, GUESS, NEEDED, SEARCH, cut_documents
from neardup.kernels.text.tokens import WORD
from neardup.text.normalizers import FoldedTexts
from neardup.text.segmenters.cutting import CutterSettings
from neardup.text.segmenters.jieba_cache import Dictionary, kept_tables
from neardup.text.segmenters.tokens import Tokens
from neardup.text.unicode_tables import fold_tables

CHARACTERS_AT_ONCE = 4096
"""Room for so many characters at first: all arrays for them stay in the processor's second cache."""
_LOADING = Lock()


def words_of_jieba(folded: FoldedTexts, settings: CutterSettings) -> Tokens:
    """The tokens of normalized texts that have a letter, mark or number.

    Raises:
        OptionError: the user dictionary is too large.
        DataError: a file of the package jieba is damaged.
    """
    how = GUESS * settings.hmm | SEARCH * (settings.mode == "search")
    how |= FORBID * any(count == 0 for _, count in settings.dictionary)
    return tokens_by(word_tables(settings.dictionary), folded, how)


def word_tables(dictionary: Dictionary = ()) -> WordTables:
    """The tables of jieba's dictionary with a user's words; they stay in memory for the next call.

    Raises:
        as in `neardup.text.segmenters.jieba_cache.kept_tables`.
    """
    with _LOADING:  # several threads may need them at once
        return _tables(dictionary)


@lru_cache(2)
def _tables(dictionary: Dictionary) -> WordTables:
    return kept_tables(dictionary)


def tokens_by(tables: WordTables, folded: FoldedTexts, how: int, characters: int = CHARACTERS_AT_ONCE) -> Tokens:
    """The tokens of texts; all count as words.

    Args:
        tables: a dictionary and a model.
        folded: the texts.
        how: as in `neardup.kernels.text.jieba_words`.
        characters: how many are worked on at once; more if more stand between two separators.
    """
    size = int(folded.offsets[-1] - folded.offsets[0])
    most = 1 + (2 * size if how & SEARCH else size)
    starts, ends = np.empty(most, np.int64), np.empty(most, np.int64)
    documents, reached = np.empty(len(folded) + 1, np.int64), np.zeros(NEEDED + 1, np.int64)
    texts = folded.data, folded.offsets
    cut_documents(*texts, how, tables, fold_tables(), cut_scratch(characters), starts, ends, documents, reached)
    while reached[NEEDED]:
        characters *= 2
        cut_documents(*texts, how, tables, fold_tables(), cut_scratch(characters), starts, ends, documents, reached)
    t = int(documents[-1])
    return Tokens(folded.data, starts[:t], ends[:t], np.full(t, WORD, np.uint8), documents)


def cut_scratch(characters: int) -> CutScratch:
    """Memory for so many characters."""
    n = characters + BEHIND + 1
    kinds = (np.uint16, np.int64, np.uint64, np.uint64, np.float64, np.int32, np.uint8)
    return CutScratch(*(np.empty(n, kind) for kind in kinds))
