"""Document frequencies as a recipe names them: a file by `neardup fit`, or the background of the package jieba.

Importing this loads nothing heavy; `neardup.fingerprints.weights.idf` loads what is named here.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from neardup.errors import InputError, RecipeMismatch

BACKGROUND = "jieba"
"""The name of the inverse document frequencies that come with the package jieba."""


@dataclass(frozen=True)
class DocumentFrequencies:
    """In how many documents of a corpus each feature occurs. Two are equal when their digests are.

    Attributes:
        digest: 16 hexadecimal digits, of the content: a copy elsewhere has the same, and so has a file compressed in another way.
        path: the file, or BACKGROUND.
        documents: how many there were; 0 if that is not known.
        features: how many distinct features they had; 0 if that is not known.
        tokenization: what decided the features, by `neardup.recipe.Recipe.tokenization`, as JSON; None for BACKGROUND.
    """

    digest: str
    path: str = field(compare=False)
    documents: int = field(default=0, compare=False)
    features: int = field(default=0, compare=False)
    tokenization: str | None = field(default=None, compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """What a recipe's digest knows of it."""
        return {"frequencies": self.digest}

    def check(self, tokenization: str) -> None:
        """Refuse a recipe that makes other features of texts than those that were counted.

        Raises:
            RecipeMismatch: with what differs.
        """
        if self.tokenization is None or tokenization == self.tokenization:
            return
        from neardup.recipe.stored import difference  # which needs the recipe, which needs this

        differing = difference(json.loads(self.tokenization), json.loads(tokenization))
        raise RecipeMismatch(
            f"{self.path} counts the features of other tokens than this recipe's: {differing}. "
            "Count anew: neardup fit with a recipe that makes these tokens, or give this recipe those."
        )


def document_frequencies(given: Any) -> DocumentFrequencies:
    """What a recipe's field means: a path, or BACKGROUND.

    Raises:
        InputError: there is no such file.
        DataError: it holds no document frequencies.
        MissingExtra: BACKGROUND, and the package jieba is not installed.
    """
    if isinstance(given, DocumentFrequencies):
        return given
    if given == BACKGROUND:
        from neardup.fingerprints.weights.jieba_package import background_digest

        return DocumentFrequencies(background_digest(), BACKGROUND)
    if not isinstance(given, (str, Path)):
        raise InputError(
            f"document_frequencies={given!r}: give the path of a file by neardup fit, or {BACKGROUND!r} for the "
            "inverse document frequencies of that package"
        )
    from neardup.recipe.frequency_file import describe_frequency_file

    return describe_frequency_file(given)
