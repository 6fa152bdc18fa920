"""What counts as a repeated passage, and what is cut: the options of `neardup passages`."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from neardup.errors import OptionError, is_integer
from neardup.options import DedupOptions
from neardup.recipe.similarity import Similarity, SimilarityLike, similarity_of
from neardup.recipe.stored_parts import plain
from neardup.recipe.tables.keeps import Keep, KeepAs
from neardup.recipe.tables.spellings import one_of
from neardup.resources.resources import ResourceOptions, Resources
from neardup.text.lists.paths import lists_problem

Scope = Literal["all", "other-documents", "same-document"]
Align = Literal["line", "paragraph"]
SCOPES = {
    "all": "what stood earlier anywhere",
    "other-documents": "what stood in an earlier document",
    "same-document": "what stood earlier in the same document",
}
ALIGNS = {"line": "lines all of whose tokens are repeated", "paragraph": "paragraphs all of whose tokens are"}
OVERLAPPING_MODES = ("search",)
"""Modes of segmenters whose tokens overlap."""
MOST_TOKENS = 1 << 20
"""The largest `min_tokens`."""


@dataclass(frozen=True, kw_only=True)
class PassageOptions:
    """What counts as a repeated passage, and what is cut.

    Attributes:
        min_tokens: a run of so many tokens that stood earlier is repeated; from 2.
        scope: where a passage must have stood earlier, one of SCOPES.
        align: `line` or `paragraph`: of a cut, only whole lines or paragraphs go, as `unit` in `deduplicate_units` cuts them. By
            default, all its tokens go.
        min_left: a document of which fewer tokens are left is removed, if nothing is left, or no cut names a copy in it.
        similarity: says how texts are cut into tokens, as for `DedupOptions`; its measure and its shingles do not matter.
        keep, keep_as, prefer_source: which documents come first; the passages of these stay. As in `DedupOptions`.
        within: a column, or a function of the text. Only passages of documents with equal values are compared.
        threads, memory, temp_dir, temp_limit: as in `DedupOptions`; no result depends on them.

    Raises:
        OptionError: a value is not allowed.
    """

    min_tokens: int = 50
    scope: Scope = "all"
    align: Align | None = None
    min_left: int = 1
    similarity: SimilarityLike = "jaccard"
    keep: Keep = "first"
    keep_as: KeepAs | None = None
    prefer_source: str | Sequence[str] = ()
    within: str | Callable[[str], Any] | None = None
    threads: int | None = None
    memory: int | str | None = None
    temp_dir: str | None = None
    temp_limit: int | str | None = None

    def __post_init__(self) -> None:
        problems = []
        for name, least in (("min_tokens", 2), ("min_left", 0)):
            given = getattr(self, name)
            if not is_integer(given) or not least <= given <= MOST_TOKENS:
                problems.append(f"`{name}={given!r}`: give an integer from {least} to {MOST_TOKENS:,}")
            else:
                object.__setattr__(self, name, int(given))
        if not isinstance(self.scope, str) or self.scope not in SCOPES:
            problems.append(one_of("scope", self.scope, SCOPES))
        if self.align is not None and self.align not in get_args(Align):
            problems.append(f"`align={self.align!r}`: give {' or '.join(get_args(Align))}, or leave it out")
        try:
            object.__setattr__(self, "prefer_source", self.order.prefer_source)
        except OptionError as problem:
            problems.append(str(problem).rstrip("."))
        else:
            if self.tokens_by.mode in OVERLAPPING_MODES:
                problems.append(
                    f"`similarity` with `mode={self.tokens_by.mode!r}`: its tokens do not stand in the text one after "
                    "another, so they cannot be cut out. Leave `mode` out, or give another segmenter"
                )
        if problems:
            raise OptionError("; ".join(problems) + ".")

    @cached_property
    def order(self) -> DedupOptions:
        """The options that put documents in order of preference, as `DedupOptions`."""
        names = (
            "similarity",
            "keep",
            "keep_as",
            "prefer_source",
            "within",
            "threads",
            "memory",
            "temp_dir",
            "temp_limit",
        )
        return DedupOptions(**{name: getattr(self, name) for name in names})

    @property
    def resources(self) -> Resources:
        """Threads, memory, and the folder and the limit of temporary files."""
        return self.order.resources

    @property
    def tokens_by(self) -> Similarity:
        """The similarity whose tokens are compared; those of all names have the same."""
        found = similarity_of(self.similarity)
        return found if isinstance(found, Similarity) else Similarity()

    def as_dict(self) -> dict[str, Any]:
        """The options as plain values, ready for JSON; a function is replaced by its name."""
        chosen = self.order.as_dict()
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name in chosen}
        mine = {name: getattr(self, name) for name in ("min_tokens", "scope", "align", "min_left")}
        return mine | {name: chosen[name] for name in values} | {"similarity": plain(self.order.similarity)}


def column_problems(text: Sequence[str], html: str | None) -> list[str]:
    """Why passages cannot be cut out of these columns."""
    problems = []
    if html is not None and len(text) > 1:
        problems.append(
            f"`html={html!r}` with `text={tuple(text)!r}`: the text of a page is written to its column. Name one column"
        )
    if problem := lists_problem(text):
        problems.append(problem)
    if len(set(text)) < len(text):
        problems.append(f"`text={tuple(text)!r}`: name each column once")
    return problems


class PassageOptionsDict(ResourceOptions, total=False):
    """The fields of `PassageOptions`."""

    min_tokens: int
    scope: Scope
    align: Align | None
    min_left: int
    similarity: SimilarityLike
    keep: Keep
    keep_as: KeepAs | None
    prefer_source: str | Sequence[str]
    within: str | Callable[[str], Any] | None
