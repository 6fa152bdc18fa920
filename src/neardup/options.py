"""The options of a run. They have the same names in Python, as flags, in TOML and in JSON."""

import dataclasses
import difflib
import inspect
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Literal, TypedDict

from neardup.display import as_code
from neardup.errors import OptionError, is_integer
from neardup.recipe.given_elements import similarity_of_elements
from neardup.recipe.similarity import Similarity, SimilarityLike, measure_of, similarity_of
from neardup.recipe.stored_parts import plain
from neardup.recipe.tables.keeps import KEEPS, Keep, Preference, preference_of
from neardup.recipe.tables.methods import BY_DISTANCE, METHODS, Method, Promise
from neardup.recipe.tables.similarities import SimilarityName
from neardup.resources.resources import ResourceOptions, Resources

Cluster = Literal["star", "components"]
Unit = Literal["document", "paragraph", "line"]
RemovableUnit = Literal["line", "paragraph"]
OnError = Literal["stop", "skip"]
CLUSTERS = {
    "star": "a document survives unless it matches an earlier survivor; no duplicate is below the threshold to its survivor",
    "components": "all documents that are connected by matches form one cluster, however long the chain",
}
UNITS = {
    "document": "whole documents are compared and removed",
    "paragraph": "paragraphs (separated by blank lines) are removed from documents",
    "line": "lines are removed from documents",
}

OTHER_NAMES = {
    "threshold": "min_similarity",
    "jaccard_threshold": "min_similarity",
    "distance": "max_distance",
    "workers": "threads",
    "column": "text",
    "against": "other",
}
"""Option names of other tools, and the names used here."""


@dataclass(frozen=True, kw_only=True)
class DedupOptions:
    """How near-duplicates are found and which of them survive.

    Attributes:
        method: how candidates are found, one of `neardup.recipe.tables.methods.METHODS`. `auto` is simhash if a distance is
            given, if
            `min_similarity` is 0, or if the recipe brings a distance and is not the default one with the default distance.
        min_similarity: the similarity threshold, from 0 to 1; a pair below it is no match. With 0, pairs match by distance alone,
            and no text is read again.
        similarity: the similarity of texts: one of `neardup.recipe.tables.similarities.SIMILARITIES`, a `Similarity`, or a .toml
            file with its fields. A `Similarity` that a name stands for becomes that name.
        max_distance: a Hamming distance of fingerprints. With simhash, pairs up to this distance are candidates; the default is
            the recipe's. With minhash, candidates above it are not verified; see `neardup.matching.distance_limit`. exact
            refuses it.
        keep: which of two matching documents is preferred: one of KEEPS, or a function of the text. The document with the
            largest value of that function is preferred. Ties go to the earlier document.
        prefer_source: sources, the most preferred first; they take precedence over `keep`. A source is a file, a folder or a
            glob, named as in the inputs. Documents from other sources come last.
        within: a column, or a function of the text. Only documents with equal values match; this holds for equal texts, too.
            Documents without a value count as equal to one another.
        cluster: how matches form clusters, one of CLUSTERS.
        threads: the number of threads; all processors by default. It never changes the result.
        memory: bytes for data kept about documents and pairs, as a number or as `512M` or `4G`; half of the machine's memory by
            default. Work that does not fit is done in several passes or in temporary files; a join whose pairs do not fit the disk
            is refused before it lists pairs. It changes neither the method that `auto` chooses nor the result.
        temp_dir: the folder for temporary files; the system's by default.
    """

    method: Method = "auto"
    min_similarity: float = 0.8
    similarity: SimilarityLike = "jaccard"
    max_distance: int | None = None
    keep: Keep = "first"
    cluster: Cluster = "star"
    prefer_source: str | Sequence[str] = ()
    within: str | Callable[[str], Any] | None = None
    threads: int | None = None
    memory: int | str | None = None
    temp_dir: str | None = None

    def __post_init__(self) -> None:
        problems = [
            f"`{name}={getattr(self, name)!r}`: give one of {', '.join(table)}"
            for name, table in (("method", METHODS), ("cluster", CLUSTERS))
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in table
        ]
        problems += self._preference_problems()
        try:
            object.__setattr__(self, "similarity", similarity_of(self.similarity))
        except OptionError as problem:
            problems.append(str(problem).rstrip("."))
        threshold, limit = self.min_similarity, self.max_distance
        if (
            not (is_integer(threshold) or isinstance(threshold, Real))
            or isinstance(threshold, bool)
            or not 0 <= threshold <= 1
        ):
            problems.append(
                f"`min_similarity={threshold!r}`: give a number from 0 (by distance alone) to 1{_as_share(threshold)}"
            )
        else:
            object.__setattr__(self, "min_similarity", float(threshold))  # JSON cannot hold numpy's numbers
        if limit is not None and (not is_integer(limit) or limit < 0):
            problems.append(f"`max_distance={limit!r}`: give an integer from 0 to the number of bits of the recipe")
        elif limit is not None:
            object.__setattr__(self, "max_distance", int(limit))
        try:
            self.resources  # noqa: B018 - made once, which checks its fields
        except OptionError as problem:
            problems.append(str(problem).rstrip("."))
        problems += self._contradictions() if not problems else []
        if problems:
            raise OptionError("; ".join(problems) + ".")

    def _preference_problems(self) -> Iterator[str]:
        if preference_of(self.keep) is None:
            yield f"`keep={self.keep!r}`: give one of {', '.join(KEEPS)}"
        given = self.prefer_source
        sources = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (given,)
        if not all(isinstance(source, str) for source in sources):
            yield f"`prefer_source={given!r}`: give names of sources, as strings"
            return
        object.__setattr__(self, "prefer_source", sources)
        if "" in sources or len(set(sources)) < len(sources):
            yield f"`prefer_source={sources!r}`: give each source once, by its name"
        if self.within is not None and not callable(self.within) and not (isinstance(self.within, str) and self.within):
            yield f"`within={self.within!r}`: give the name of a column"

    @cached_property
    def resources(self) -> Resources:
        """Threads, memory and the folder for temporary files, as one object."""
        return Resources(self.threads, self.memory, self.temp_dir)

    @property
    def compared_by(self) -> Similarity | SimilarityName:
        """The similarity; the name of one with the defaults of its measure."""
        return similarity_of(self.similarity)

    @property
    def measure(self) -> SimilarityName:
        """The measure of the similarity."""
        return measure_of(self.compared_by)

    @property
    def preference(self) -> Preference:
        """What `keep` means."""
        found = preference_of(self.keep)
        assert found is not None  # checked when the options were made
        return found

    @property
    def preferred_by(self) -> str | None:
        """The name in `Documents.values` of the values that `keep` compares; None if `keep` compares no values."""
        return "keep()" if callable(self.keep) else self.preference.column

    @property
    def grouped_by(self) -> str | None:
        """The name in `Documents.values` of the values that must be equal for a match; None without `within`."""
        return "within()" if callable(self.within) else self.within

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values `keep` and `within` need."""
        names = (self.preferred_by, self.grouped_by)
        return tuple(dict.fromkeys(name for name in names if name is not None and name not in self.functions))

    @property
    def columns_asked_by(self) -> dict[str, str]:
        """For each of `columns`, the option that names it, as `neardup.io.corpora.batch.Columns` takes it."""
        named = {
            self.preferred_by: f"keep={self.keep[:4]}" if isinstance(self.keep, str) else "",
            self.grouped_by: "within=",
        }
        return {name: named[name] for name in self.columns}

    @property
    def functions(self) -> dict[str, Callable[[str], Any]]:
        """The caller's functions of texts, by the names of their values."""
        given = {"keep()": self.keep, "within()": self.within}
        return {name: function for name, function in given.items() if callable(function)}

    def as_dict(self) -> dict[str, Any]:
        """The options as plain values, ready for JSON; a function is replaced by its name."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values["similarity"] = plain(self.similarity)
        for name in ("keep", "within"):
            given = getattr(self, name)
            values[name] = f"{getattr(given, '__qualname__', type(given).__qualname__)}()" if callable(given) else given
        return values

    def _contradictions(self) -> Iterator[str]:
        row = METHODS[self.method]
        if self.min_similarity == 0 and row.needs_similarity:
            yield (
                f"`method={self.method!r}` finds pairs by their similarity: give a `min_similarity` above 0, or "
                f"`method={BY_DISTANCE!r}` for pairs by distance alone"
            )
        if not row.is_for(self.measure):
            exact = next(name for name, other in METHODS.items() if other.promise is Promise.EXACT)
            yield (
                f"`similarity={self.measure!r}`: `method={self.method!r}` promises nothing for it, its {row.searches} are for "
                f"{', '.join(row.serves or ())}. Use `method={exact!r}`"
            )
        if self.max_distance is not None and not row.takes_distance:
            yield (
                f"`max_distance={self.max_distance}`: `method={self.method!r}` asks for no distance; leave it out, or use "
                f"`method={BY_DISTANCE!r}`"
            )

    def taken(self) -> Method:
        """The method that the options determine; `auto` only if the choice depends on the corpus."""
        is_open = METHODS[self.method].promise is Promise.CHOSEN
        return BY_DISTANCE if is_open and (self.max_distance is not None or self.min_similarity == 0) else self.method


class IndexOptions(TypedDict, total=False):
    """Options of the search methods of an `Index`; each method takes some of them."""

    blocks: int
    prefix: int
    tables: int
    permutations: int
    beam: int
    seed: int


class MatchingOptions(TypedDict, total=False):
    """The options that decide which documents match."""

    method: Method
    min_similarity: float
    similarity: SimilarityLike
    max_distance: int | None


class SurvivorOptions(TypedDict, total=False):
    """The options that decide which of the matching documents survive: those of `cluster_files`."""

    keep: Keep
    cluster: Cluster
    prefer_source: str | Sequence[str]
    within: str | Callable[[str], Any] | None


class DedupOptionsDict(MatchingOptions, SurvivorOptions, ResourceOptions, total=False):
    """The fields of `DedupOptions`, as keyword arguments."""


class MatchOptions(MatchingOptions, ResourceOptions, total=False):
    """The options of `match`."""

    within: str | Callable[[str], Any] | None


def meant_option(given: str, allowed: Collection[str]) -> str | None:
    """The allowed option that a misspelled name most likely means, or None.

    Names of options in other tools are tried first, then names with similar spelling.
    """
    for near in difflib.get_close_matches(given, OTHER_NAMES, 1, 0.8):
        if OTHER_NAMES[near] in allowed:
            return OTHER_NAMES[near]
    return next(iter(difflib.get_close_matches(given, allowed, 1, 0.7)), None)


PURPOSES = (
    (MatchingOptions, "decides which documents match, as in deduplicate(), match() and pair_files()"),
    (SurvivorOptions, "decides which of the matching documents survive, as in deduplicate() and cluster_files()"),
)
"""What the options are for that some functions take and others do not."""


def refuse_unknown(given: Collection[str], function: Callable[..., Any]) -> None:
    """Check the names of `**options` that `function` received.

    Raises:
        OptionError: the function has no option of such a name; the message says which was probably meant.
    """
    of_function = _taken_together(function)
    if all(name in of_function for name in given):
        return
    named = [each.name for each in inspect.signature(function).parameters.values() if each.kind is each.KEYWORD_ONLY]
    names = [*named, *of_function]
    taken = [*names, *inspect.signature(function).parameters]
    wrong, is_helped, called = [], True, function.__qualname__.removesuffix(".__init__")
    for name in given:
        if name not in of_function:
            meant = meant_option(name, taken)
            purpose = next((purpose for options, purpose in PURPOSES if name in options.__annotations__), None)
            is_helped = is_helped and bool(meant or purpose)
            reason = f"{called}() has no such option"
            reason += f"; it {purpose}" if purpose else f" (did you mean `{meant}`?)" if meant else ""
            wrong.append(f"`{name}`: {reason}")
    listed = "" if is_helped else f" There are {as_code(names)}."
    raise OptionError("; ".join(wrong) + "." + listed)


def _taken_together(function: Callable[..., Any]) -> Collection[str]:
    """The keys of the typed dictionary of a function's `**options`."""
    unpacked: Any = typing.Unpack
    found = next(kind for kind in function.__annotations__.values() if typing.get_origin(kind) is unpacked)
    keys: dict[str, Any] = typing.get_args(found)[0].__annotations__
    return keys


def options_of(given: Mapping[str, Any], function: Callable[..., Any]) -> DedupOptions:
    """Make `DedupOptions` from the `**options` that a function received.

    Raises:
        OptionError: the function has no such option, or its value is not allowed.

    >>> from neardup import deduplicate
    >>> options_of({"keep": "last"}, deduplicate).keep
    'last'
    """
    refuse_unknown(given, function)
    return DedupOptions(**given)


def options_for_elements(options: DedupOptions, *, have_sets: bool = False) -> DedupOptions:
    """The same options for given sets and lists, whose elements are compared as they are. `have_sets`: some have no order.

    Raises:
        OptionError: the similarity says how texts are cut, or is of the order of elements and there are sets; or an option is a
            function of a text.
    """
    if options.functions:
        named = as_code([name.removesuffix("()") for name in options.functions], " and ")
        raise OptionError(f"{named}: a function gets texts, and these are sets or lists. Name a column.")
    similarity = similarity_of_elements(options.compared_by, have_sets=have_sets)
    return dataclasses.replace(options, similarity=similarity)


def _as_share(given: Any) -> str:
    """The share that a percentage may mean, as a question; few percent are nobody's threshold."""
    is_number = isinstance(given, Real) and not isinstance(given, bool)
    if not is_number or not 10 <= given <= 100:
        return ""
    return f" (did you mean {float(given) / 100:g}?)"
