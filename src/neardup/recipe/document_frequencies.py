"""Document frequencies as a recipe names them: a file by `neardup fit`, or the background of the package jieba.

Importing this loads nothing heavy; `neardup.fingerprints.weights.idf` loads what is named here.
"""

import hashlib
import importlib.util
import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from neardup.errors import RecipeMismatch
from neardup.recipe.differences import difference
from neardup.recipe.stored_parts import check_installed

BACKGROUND = "jieba"
"""The name of the inverse document frequencies that come with the package jieba."""
EXTRA = "zh"
"""The extra that has this package."""


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
        differing = difference(json.loads(self.tokenization), json.loads(tokenization))
        raise RecipeMismatch(
            f"{self.path} counts the features of other tokens than this recipe's: {differing}. "
            "Count anew: neardup fit with a recipe that makes these tokens, or give this recipe those."
        )


def jieba_idf_file(what: str) -> bytes:
    """The content of the file analyse/idf.txt of the package jieba.

    Raises:
        MissingExtra: jieba is not installed; `what` needs it.
    """
    check_installed(what, ("jieba",), EXTRA)
    found = importlib.util.find_spec("jieba")  # the package itself takes a second to load
    return (Path(str(found.origin)).parent / "analyse" / "idf.txt").read_bytes() if found else b""


@lru_cache(1)
def background_digest() -> str:
    """16 hexadecimal digits, of the file.

    Raises:
        MissingExtra: jieba is not installed.
    """
    return hashlib.sha256(jieba_idf_file("document_frequencies='jieba'")).hexdigest()[:16]
