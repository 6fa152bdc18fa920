"""What tells segmenters and weights in a recipe's digest from others: what decides tokens and weights, not who computes them.

The kernels cut as jieba does, so `jieba` is told by the digest of the words and the model that they read. rjieba brings its own,
so it is told by its version, under the name that it had before there were kernels: files of those days are of `rjieba`.

Weights are told by their name, the packages that decide them, and the kind of sums. They are fixed-point numbers, whose sums are
exact. cppjieba adds floating-point numbers, and so does neardup for it, but not always did: `sums` tells the fingerprints of those
days, whose digests lack it.
"""

from collections.abc import Mapping
from typing import Any

from neardup.recipe.files.jieba_files import JIEBA, words_digest
from neardup.recipe.stored_parts import StoredPart, of_other_versions, stored, version_of, with_versions
from neardup.recipe.tables.parts import WEIGHT_PACKAGES
from neardup.recipe.tables.segmenters import PACKAGES

WORDS = "words"
FORMER_NAMES = {"rjieba": "jieba"}
"""The names of segmenters in digests, where they are not their own."""
SUMS, DOUBLES = "sums", "float64"
_IN_DOUBLES = ("cppjieba",)
_EXACT = (
    "an earlier version of neardup made the fingerprints, with exact sums, and here sums are rounded as in cppjieba, so some bits "
    "differ. Make the fingerprints again"
)


def segmenter_identity(name: str) -> Any:
    """The value of a segmenter of the package in a recipe's digest.

    Raises:
        DataError: a file of the package jieba cannot be read.
    """
    if name == JIEBA:
        return {"name": name, WORDS: words_digest()}
    return with_versions(FORMER_NAMES.get(name, name), PACKAGES.get(name, ()))


def stored_segmenter(value: Mapping[str, Any]) -> str | StoredPart:
    """The segmenter with this value in a digest; a placeholder if it is a caller's, or what decides its tokens is not here.

    Raises:
        as in `segmenter_identity`.
    """
    for name, packages in PACKAGES.items():
        if value.get("name") != FORMER_NAMES.get(name, name) or set(value) != set(segmenter_identity(name)):
            continue
        if value == segmenter_identity(name):
            return name
        return stored(dict(value), _other_words(value) if name == JIEBA else of_other_versions(dict(value), packages))
    return stored(dict(value))


def _other_words(value: Mapping[str, Any]) -> str:
    here = f"jieba {version_of(JIEBA)} has {words_digest()}" if version_of(JIEBA) else "there is no jieba"
    return (
        f"what is stored was made with jieba's dictionary and model {value[WORDS]}, and here {here}. "
        "Install the version of jieba that it was made with"
    )


def weights_identity(name: str) -> Any:
    """The value of weights in a recipe's digest."""
    found = with_versions(name, WEIGHT_PACKAGES.get(name, ()))
    return found | {SUMS: DOUBLES} if name in _IN_DOUBLES else found


def stored_weights(value: Mapping[str, Any]) -> str | StoredPart:
    """The weights with this value in a digest; a placeholder if they are a caller's, or what decides them is not the same here."""
    name, known = value.get("name", ""), dict(value)
    packages = WEIGHT_PACKAGES.get(name, ())
    if not packages:
        return stored(known)
    if known == weights_identity(name):
        return str(name)
    if name in _IN_DOUBLES and SUMS not in known:
        return stored(known, _EXACT)
    return stored(known, of_other_versions(known, packages))
