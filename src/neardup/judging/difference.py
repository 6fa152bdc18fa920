"""How two texts differ, word by word; Han characters and Kana are compared one by one.

Case, punctuation and the width of characters make no difference, as they make none for a recipe.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from neardup.text.side_by_side.alignment import align
from neardup.text.side_by_side.shown_tokens import Token

Kind = Literal["both", "first", "second"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of two texts: in `both` (as the first text has it), or in the `first` or the `second` alone.

    Attributes:
        kind: where it is.
        words: its words, each with what follows it up to the next.
    """

    kind: Kind
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two texts, with the differences between them.

    Attributes:
        first, second: the ids of the documents.
        pieces: the texts, piece by piece.
        same_text: whether the two texts are one, character by character.
    """

    first: object
    second: object
    pieces: tuple[Piece, ...]
    same_text: bool

    @classmethod
    def of(cls, first: object, second: object, texts: tuple[str, str]) -> "Difference":
        """The difference of two texts, those of two documents with these ids."""
        return cls(first, second, difference(*texts), texts[0] == texts[1])

    @property
    def places(self) -> int:
        """The number of places where the texts differ."""
        kinds = [piece.kind != "both" for piece in self.pieces]
        return sum(differs and not before for before, differs in zip([False, *kinds], kinds, strict=False))


def difference(first: str, second: str) -> tuple[Piece, ...]:
    """Compare two texts.

    >>> [(piece.kind, "".join(piece.words)) for piece in difference("The old pier.", "the new pier")]
    [('both', 'The '), ('first', 'old '), ('second', 'new '), ('both', 'pier.')]
    """
    aligned = align(first, second)
    shown = _words(first, aligned.tokens[0]), _words(second, aligned.tokens[1])
    pieces: list[tuple[Kind, list[str]]] = []

    def add(kind: Kind, words: Sequence[str]) -> None:
        if words and pieces and pieces[-1][0] == kind:
            pieces[-1][1].extend(words)
        elif words:
            pieces.append((kind, list(words)))

    at = [0, 0]
    for i, j in [*aligned.matches, (len(shown[0]), len(shown[1]))]:
        add("first", shown[0][at[0] : i])
        add("second", shown[1][at[1] : j])
        add("both", shown[0][i : i + 1])
        at = [i + 1, j + 1]
    return tuple(Piece(kind, tuple(words)) for kind, words in pieces)


def _words(text: str, tokens: Sequence[Token]) -> list[str]:
    """The words as they are shown, each with what stands behind it; the first with what stands before it, too."""
    bounds = [0, *(token.start for token in tokens[1:]), len(text)]
    return [text[bounds[place] : bounds[place + 1]] for place in range(len(tokens))]
