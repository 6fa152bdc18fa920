"""The tokens of the pieces of texts: what windows slide over. A piece is a text, or a text column of one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.fingerprints.shingle_hashes import features_compared
from neardup.fingerprints.workspace import Workspace
from neardup.kernels.repeats.windows import hash_texts
from neardup.kernels.text.tokens import most_tokens, token_arrays
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.parts import FOLDING, folds_last
from neardup.text.normalizers import FoldedTexts, compared_form, normalized
from neardup.text.segmenters.table import tokens_of
from neardup.text.segmenters.tokens import Tokens, words_of
from neardup.text.unicode_tables import fold_tables

COLUMN_END = "\ufdd0"
"""Stands between the texts of several columns: no character, and Unicode keeps it for such uses (The Unicode Standard, section
23.7).
"""
SEPARATOR = f"\n{COLUMN_END}\n"


@dataclass(frozen=True, slots=True)
class Stream:
    """The tokens of n texts.

    Attributes:
        hashes: uint64[tokens].
        pieces: int64[pieces + 1], the first token of each piece.
        firsts: int64[n + 1], the first piece of each text.
        spans: gives the spans of the tokens; only until the next texts are cut on this thread.
    """

    hashes: Array
    pieces: Array
    firsts: Array
    spans: Callable[[], Tokens]

    @property
    def sizes(self) -> Array:
        """int64[n]: places of each text: its tokens, and one for each piece."""
        found: Array = np.diff(self.pieces[self.firsts]) + np.diff(self.firsts)
        return found


_WORKSPACE = Workspace(lambda longest, _: token_arrays(longest))


@dataclass(frozen=True)
class TokenStream:
    """Cuts texts into tokens of the version of a recipe, as a similarity does after its normalizers.

    Attributes:
        similarity, recipe: these.
        columns: texts are those of so many columns, with SEPARATOR between them.
    """

    similarity: Similarity
    recipe: Recipe
    columns: int = 1

    def of(self, texts: Any) -> Stream:
        """The tokens of an Arrow `large_string` array; a null has none, but one piece.

        Raises:
            OptionError: only the identity of a part of the similarity is known.
            MissingExtra: a package that the similarity needs is not installed.
        """
        pieces, firsts = pieces_of(texts) if self.columns > 1 else (texts, np.arange(len(texts) + 1))
        if not self.similarity.is_plain:
            tokens = self.tokens(pieces)
            return Stream(tokens.hashes(), tokens.documents, firsts, lambda: tokens)
        folded = _WORKSPACE.fold(pieces, self.steps)
        longest, version = int(np.diff(folded.offsets).max(initial=0)), self.recipe.version
        hashes = np.empty(most_tokens(int(folded.offsets[-1])) + len(folded), np.uint64)
        documents = np.empty(len(folded) + 1, np.int64)
        hash_texts(folded.data, folded.offsets, _WORKSPACE.scratch(longest, 0), fold_tables(version), hashes, documents)
        return Stream(hashes[: documents[-1]], documents, firsts, lambda: words_of(folded, version))

    def tokens(self, pieces: Any) -> Tokens:
        """The tokens of an Arrow `large_string` array, each text of which is one piece."""
        self.similarity.check_available()
        folded = self.folded(pieces)
        if self.similarity.is_plain:
            return words_of(folded, self.recipe.version)
        return tokens_of(folded, features_compared(self.similarity, self.recipe))

    def folded(self, pieces: Any) -> FoldedTexts:
        """The normalized texts that are cut into tokens."""
        steps = self.steps
        return normalized(pieces, steps) if self.similarity.normalize is not None else compared_form(pieces, steps)

    def columns_of(self, text: str) -> list[str]:
        """The texts of the columns of a document.

        Raises:
            DataError: one of them has the character that stands between columns.
        """
        found: list[str] = self.columns_in(pa.array([text], pa.large_string())).to_pylist()
        return found

    def columns_in(self, texts: Any) -> Any:
        """The texts of the columns of some documents, one after another; both Arrow `large_string`.

        Raises:
            DataError: one of them has the character that stands between columns.
        """
        if self.columns == 1:
            return texts
        parts, ends = pc.split_pattern(texts, SEPARATOR), pc.count_substring(texts, COLUMN_END).to_numpy()
        if (np.diff(parts.offsets.to_numpy()) != self.columns).any() or (ends >= self.columns).any():
            raise DataError(
                "A text has the character U+FDD0, which is of no script and stands between the columns of texts here. "
                "Remove it from the text, or name one column."
            )
        return parts.flatten().cast(pa.large_string())

    @property
    def folds_spaces(self) -> bool:
        """Whether runs of white space become one space."""
        return self.similarity.normalize is None or folds_last(self.steps)

    @property
    def folds_alone(self) -> bool:
        """Whether texts are folded, and nothing else is done to them."""
        return self.folds_spaces and self.steps in ((), FOLDING)

    @property
    def steps(self) -> tuple[Any, ...]:
        """The normalizers of the similarity, or those of the recipe, which folding follows."""
        own = self.similarity.normalize
        return tuple(self.recipe.normalize if own is None else own)


def pieces_of(texts: Any) -> tuple[Any, Array]:
    """The pieces of texts, Arrow large_string[pieces], and the first of each text, int64[n + 1]."""
    parts = pc.split_pattern(texts.fill_null("") if texts.null_count else texts, COLUMN_END)
    return parts.flatten().cast(pa.large_string()), parts.offsets.to_numpy().astype(np.int64)
