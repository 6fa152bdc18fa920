"""Document frequencies as a recipe names them: a file that `neardup fit` wrote, or those of the package jieba.

This module imports nothing heavy. `neardup.fingerprints.weights.idf` loads the frequencies that are named here.
"""

import hashlib
import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from neardup.errors import RecipeMismatch
from neardup.recipe.differences import difference
from neardup.recipe.files.jieba_files import IDF, read_jieba_file

BACKGROUND: Final = "jieba"
"""The name of the inverse document frequencies that come with the package jieba."""


@dataclass(frozen=True)
class DocumentFrequencies:
    """The number of documents of a corpus in which each feature occurs. Two objects are equal if their digests are.

    Attributes:
        digest: the digest of the content, 16 hexadecimal digits. Copies have the same digest, however they are compressed.
        path: the path of the file, or BACKGROUND.
        documents: the number of documents; 0 if unknown.
        features: the number of unique features; 0 if unknown.
        tokenization: the fields that decided the features, as JSON from `Recipe.tokenization`; None for BACKGROUND.
        content: the file itself, if it was kept with fingerprints; otherwise it is read from the path.
    """

    digest: str
    path: str = field(compare=False)
    documents: int = field(default=0, compare=False)
    features: int = field(default=0, compare=False)
    tokenization: str | None = field(default=None, compare=False, repr=False)
    content: bytes | None = field(default=None, compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The values that enter a recipe's digest."""
        return {"frequencies": self.digest}

    def check(self, tokenization: str) -> None:
        """Refuse a recipe whose features differ from the counted ones.

        Raises:
            RecipeMismatch: the tokenizations differ; the message has the differences.
        """
        if self.tokenization is None or tokenization == self.tokenization:
            return
        differing = difference(json.loads(self.tokenization), json.loads(tokenization))
        raise RecipeMismatch(
            f"{self.path} counts the features of other tokens than this recipe's: {differing}. "
            "Count anew: neardup fit with a recipe that makes these tokens, or give this recipe those."
        )


@lru_cache(1)
def background_digest() -> str:
    """The digest of jieba's file, 16 hexadecimal digits.

    Raises:
        MissingExtra: jieba is not installed.
        DataError: the file cannot be read.
    """
    return hashlib.sha256(read_jieba_file(IDF, "`document_frequencies='jieba'`")).hexdigest()[:16]
