"""The scripts of a corpus, from a sample of what is read anyway: some texts need another recipe than the default one."""

import threading
import unicodedata
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.recipe.presets import RECIPES
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.parts import VERSIONS
from neardup.recipe.tables.similarities import SimilarityName
from neardup.text.unicode_tables import EMOJI, POINT, SPACELESS, character_kinds

SAMPLED_TEXTS, SAMPLED_CHARACTERS = 64, 1000
"""How many texts of a batch are looked at, spread over it, and how many characters of each."""
TOLD_SHARE = 0.1
"""From this share of all letters on, other tokens are worthwhile."""
_LANGUAGES = {"MYANMAR": "Burmese", "NEW": "Tai"}


class _Kind(NamedTuple):
    """What is told of characters of a kind: what they are, what another recipe does, the names of such by the digests of those that
    are otherwise the same, and the field of a recipe of one's own.
    """

    what: str
    better: str
    named: dict[str, str]
    field: str


def _named(**names: str) -> dict[str, str]:
    return {RECIPES[name.replace("_", "-")].recipe.digest(): better for name, better in names.items()}


_SECOND = _named(default="all-scripts", default_64="all-scripts-64"), "`version = 2`"
_KINDS = {
    SPACELESS: _Kind(
        "of the letters are of scripts without spaces between words, such as {script}, so a whole phrase counts as one word",
        "To compare characters instead",
        *_SECOND,
    ),
    POINT: _Kind(
        "of the letters are {script} vowel signs, so a word with them and the same word without them are two words",
        "To compare words without them",
        _named(default="unmarked"),
        '`normalize = ["marks", …]`',
    ),
    EMOJI: _Kind("of the letters and emoji are emoji, which do not count", "To compare them, too", *_SECOND),
}
"""In the order in which they are told: one is enough."""


class ScriptCount:
    """Counts letters and emoji that need another recipe; batches may be counted on several threads."""

    def __init__(self) -> None:
        self._lock, self._letters = threading.Lock(), 0
        self._scripts: dict[int, Counter[str]] = {kind: Counter() for kind in _KINDS}

    @classmethod
    def wanted(cls, recipe: Recipe, compared_by: Similarity | SimilarityName) -> "ScriptCount | None":
        """None if words are cut in another way than by spaces."""
        segmenter = compared_by.segmenter if isinstance(compared_by, Similarity) else "words"
        is_plain = recipe.profile is None and recipe.segmenter == segmenter == "words"
        return cls() if is_plain and recipe.version < max(VERSIONS) else None

    def look(self, texts: Any) -> None:
        """Count a sample of some texts, an Arrow array of strings."""
        places = np.unique(np.linspace(0, len(texts), SAMPLED_TEXTS, endpoint=False, dtype=np.int64))[: len(texts)]
        some = pc.utf8_slice_codeunits(texts.take(pa.array(places)), 0, SAMPLED_CHARACTERS).drop_null()
        codes = np.frombuffer("".join(some.to_pylist()).encode("utf-32-le"), np.uint32)
        kinds = character_kinds()[codes]
        with self._lock:
            self._letters += int(np.count_nonzero(kinds))
            for kind, scripts in self._scripts.items():
                for code, count in zip(*np.unique(codes[kinds == kind], return_counts=True), strict=True):
                    scripts[_script(int(code))] += int(count)

    def told(self, *known: int) -> tuple[int, str] | None:
        """The kind, of some or all, of which there are many characters, and how many, in a clause; None if there is none."""
        for kind in known or _KINDS:
            scripts = self._scripts[kind]
            share = scripts.total() / max(1, self._letters)
            if share >= TOLD_SHARE:
                [(script, _)] = scripts.most_common(1)
                return kind, f"{share:.0%} {_KINDS[kind].what.format(script=script)}"
        return None

    def advice(self, recipe: Recipe, *, kept_by: str | None = None) -> str | None:
        """Advice for who uses this recipe, or has made with it what `kept_by` names, such as a store; None if there is none."""
        told = self.told(*(kind for kind in _KINDS if kind != POINT or "marks" not in recipe.normalize))
        if told is None:
            return None
        kind, what = _KINDS[told[0]], told[1]
        better = kind.named.get(recipe.digest())
        if kept_by is not None:
            other = f"with the recipe {better}" if better else f"whose recipe has {kind.field}"
            return f"{what}. {kind.better}, make another {kept_by} {other}: this one keeps its recipe"
        return f"{what}. {kind.better}, give {f'`recipe={better!r}`' if better else f'the recipe {kind.field}'}"


class FirstTexts:
    """Says the advice on a new store or index as soon as so many of its texts are known, since it keeps its recipe."""

    ENOUGH = 256

    def __init__(self, count: ScriptCount | None, recipe: Recipe, kept_by: str, say: Callable[[str], None]) -> None:
        self._count, self._recipe, self._kept_by, self._say, self._texts = count, recipe, kept_by, say, 0

    def look(self, texts: Any) -> None:
        """Count some more texts, an Arrow array of strings or a list."""
        if self._count is not None:
            self._count.look(pa.array(texts, pa.large_string()))
            self._texts += len(texts)
            if self._texts >= self.ENOUGH:
                self.end()

    def end(self) -> None:
        """There are no more."""
        count, self._count = self._count, None
        if count is not None and (advice := count.advice(self._recipe, kept_by=self._kept_by)):
            self._say(advice)


def _script(code: int) -> str:
    """The script of a character, for people."""
    first = unicodedata.name(chr(code), "?").split()[0]
    return _LANGUAGES.get(first, first.title())
