"""What stores and engines make of texts: fingerprints, elements and signatures, and their form in files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.fingerprints.minhash import Signatures, Signing
from neardup.fingerprints.numbers import number_digests
from neardup.fingerprints.simhash import Fingerprints
from neardup.matching.similarities.first_pass import first_pass
from neardup.matching.similarities.table import ElementMaker, Elements
from neardup.options import Guard
from neardup.recipe.recipe import Recipe
from neardup.text.given_elements import is_collection


@dataclass(frozen=True, slots=True)
class Texts:
    """n texts.

    Attributes:
        prints: their fingerprints, digests and numbers of tokens.
        joined: the elements by which candidates are found.
        compared: the elements that verification compares; the same, for most similarities.
        signatures: their MinHash signatures, if the method needs them.
        originals: the texts as they were given (Arrow large_string[n]), if the store keeps them.
        numbers: uint64[n], what a guard compares (`neardup.fingerprints.numbers`), if there is one.
    """

    prints: Fingerprints
    joined: Elements
    compared: Elements
    signatures: Signatures | None
    originals: Any = None
    numbers: Array | None = None

    def __len__(self) -> int:
        return len(self.prints.tokens)

    @property
    def digests(self) -> list[bytes]:
        """16 bytes each, equal for equal normalized texts."""
        return digest_bytes(self.prints.digests)

    def __getitem__(self, rows: Array) -> "Texts":
        """Some of the texts (int64[k], ascending, each once)."""
        if len(rows) == len(self):
            return self
        prints = Fingerprints(self.prints.values[rows], self.prints.digests[rows], self.prints.tokens[rows])
        joined = some_elements(self.joined, rows)
        compared = joined if self.compared is self.joined else some_elements(self.compared, rows)
        signatures = None if self.signatures is None else self.signatures[rows]
        return Texts(
            prints,
            joined,
            compared,
            signatures,
            None if self.originals is None else self.originals.take(pa.array(rows)),
            None if self.numbers is None else self.numbers[rows],
        )


def texts_of(
    given: Sequence[str],
    recipe: Recipe,
    similarity: ElementMaker,
    signing: Signing | None,
    *,
    with_originals: bool,
    guard: Guard | None = None,
) -> Texts:
    """Make all that is needed of texts. `with_originals`: whether they are kept.

    Raises:
        OptionError: one of them is no string, or not valid Unicode.
    """
    for kind in set(map(type, given)):
        if not issubclass(kind, str):
            _refuse(next(text for text in given if type(text) is kind))
    try:
        column = pa.array(given, pa.large_string())
    except (pa.ArrowException, UnicodeEncodeError) as problem:
        raise OptionError(f"A text is no string of valid Unicode: {problem}.") from None
    found = texts_of_column(column, recipe, similarity, signing, guard=guard)
    return replace(found, originals=column) if with_originals else found


def _refuse(value: Any) -> NoReturn:
    """Say that a value is no text."""
    if is_collection(value):
        raise OptionError(
            "A text is a set or a list of elements: a store has texts only. Give strings, or use `deduplicate`."
        )
    kind = "None" if value is None else f"of type {type(value).__name__}"
    raise OptionError(f"A text is {kind}. Give strings.")


def texts_of_column(
    column: Any, recipe: Recipe, similarity: ElementMaker, signing: Signing | None, *, guard: Guard | None = None
) -> Texts:
    """Make all that is needed of texts in an Arrow large_string array without nulls, of valid UTF-8."""
    prints, joined = first_pass(column, recipe, similarity)
    compared = joined if similarity.joined == similarity.verified else similarity.stored(column, recipe)
    signatures = None if signing is None else signing.sign_sets(joined.values, joined.offsets)
    numbers = None if guard is None else number_digests(column, recipe.normalize)
    return Texts(prints, joined, compared, signatures, numbers=numbers)


def some_elements(elements: Elements, rows: Array) -> Elements:
    """The elements of some texts (int64[k], ascending, each once)."""
    if len(rows) == len(elements.offsets) - 1:
        return elements
    lengths = np.diff(elements.offsets)[rows]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    at = np.arange(offsets[-1]) + np.repeat(elements.offsets[rows] - offsets[:-1], lengths)
    return Elements(elements.values[at], elements.weights[at] if len(elements.weights) else elements.weights, offsets)


def digest_bytes(digests: Array) -> list[bytes]:
    """Digests (uint64[n, 2]) as 16 bytes each."""
    content = digests.astype(">u8").tobytes()
    return [content[at : at + 16] for at in range(0, len(content), 16)]


def digest_words(digests: Sequence[bytes]) -> Array:
    """Digests of 16 bytes as uint64[n, 2]."""
    return np.frombuffer(b"".join(digests), ">u8").astype(np.uint64).reshape(-1, 2)


def no_elements() -> Elements:
    """The elements of no texts."""
    return Elements.joined([])
