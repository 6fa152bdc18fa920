"""The options of a run. They have the same names in Python, as flags, in TOML and in JSON."""

import dataclasses
import difflib
import functools
import inspect
import sys
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from types import FunctionType, ModuleType
from typing import Any, Literal, TypedDict

from neardup.display import as_code
from neardup.errors import NeardupError, OptionError, is_integer, refuse_unprinted
from neardup.recipe.given_elements import similarity_of_elements
from neardup.recipe.similarity import Similarity, SimilarityLike, measure_of, similarity_of, version_of
from neardup.recipe.stored_parts import plain
from neardup.recipe.tables.keeps import KEEP_AS, KEEPS, By, Keep, KeepAs, Preference, preference_of
from neardup.recipe.tables.methods import BY_DISTANCE, METHODS, Method, Promise
from neardup.recipe.tables.similarities import SimilarityName
from neardup.recipe.tables.spellings import one_of
from neardup.resources.resources import ResourceOptions, Resources

Cluster = Literal["star", "components"]
Unit = Literal["document", "paragraph", "line"]
RemovableUnit = Literal["line", "paragraph"]
OnError = Literal["stop", "skip"]
CLUSTERS = {
    "star": "a document survives unless it matches an earlier survivor; no duplicate is below the threshold to its survivor",
    "components": "all documents that are connected by matches form one cluster, however long the chain",
}
Prefer = Literal["against", "best"]
PREFERS = {
    "against": "the reference stays as it is, and inputs that match it are removed",
    "best": "keep orders its documents and the inputs together; those of the reference that lose are listed, to be deleted there",
}
Guard = Literal["same-numbers"]
GUARDS = {
    "same-numbers": "only documents with the same numbers match: the same runs of digits, in the same order",
}
UNITS = {
    "document": "whole documents are compared and removed",
    "paragraph": "paragraphs (separated by blank lines) are removed from documents",
    "line": "lines are removed from documents",
}

CLUSTER_OPTIONS = ("keep_most", "drop_matched", "max_cluster")
"""Those that need all documents of a cluster."""

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
        keep_as: how `keep` compares the values of a column, or of a function: one of KEEP_AS. By default, the values decide:
            numbers if all are numbers, times if all are dates or times in ISO 8601, and text if none is either.
        keep_most: of each cluster, how many documents stay: the first in order of preference. Clusters are those of a run without
            it: only the first of them attracts others. Of those with a document of a reference, no other stays. None for one.
        drop_matched: remove every document that matches any other; then none stays in its place. It needs components.
        max_cluster: the largest share of the documents, above 0 to 1, that one cluster may have; a run that finds a larger one is
            refused.
        prefer_source: sources, the most preferred first; they take precedence over `keep`. A source is a file, a folder or a
            glob, named as in the inputs. Documents from other sources come last.
        within: a column, or a function of the text. Only documents with equal values match; this holds for equal texts, too.
            Documents without a value count as equal to one another.
        guard: one of GUARDS: what must be equal in two texts besides, so that they match; None for nothing. What `same-numbers`
            compares is in `neardup.fingerprints.numbers`; it is for texts, and for recipes that keep digits.
        cluster: how matches form clusters, one of CLUSTERS.
        threads: the number of threads; all processors by default. It never changes the result.
        memory: bytes for data kept about documents and pairs, as a number or as `512M` or `4G`; half of the machine's memory by
            default. Work that does not fit is done in several passes or in temporary files; a join whose pairs do not fit the disk
            is refused before it lists pairs. It changes neither the method that `auto` chooses nor the result.
        temp_dir: the folder for temporary files; the system's by default.
        temp_limit: bytes that temporary files may take together, as a number or as `512M` or `4G`; nine tenths of what is free in
            their folder by default. A run that needs more is refused, before the work if its size can be known.
    """

    method: Method = "auto"
    min_similarity: float = 0.8
    similarity: SimilarityLike = "jaccard"
    max_distance: int | None = None
    guard: Guard | None = None
    keep: Keep = "first"
    keep_as: KeepAs | None = None
    cluster: Cluster = "star"
    keep_most: int | None = None
    drop_matched: bool = False
    max_cluster: float | None = None
    prefer_source: str | Sequence[str] = ()
    within: str | Callable[[str], Any] | None = None
    threads: int | None = None
    memory: int | str | None = None
    temp_dir: str | None = None
    temp_limit: int | str | None = None

    def __post_init__(self) -> None:
        problems = [
            one_of(name, getattr(self, name), table)
            for name, table in (("method", METHODS), ("cluster", CLUSTERS))
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in table
        ]
        if self.guard is not None and (not isinstance(self.guard, str) or self.guard not in GUARDS):
            problems.append(f"`guard={self.guard!r}`: give one of {', '.join(GUARDS)}, or None")
        problems += self._preference_problems()
        problems += self._cluster_problems()
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
            yield one_of("keep", self.keep, KEEPS)
        elif problem := problem_of_keep_as(self.keep_as, self.keep):
            yield problem
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

    def _cluster_problems(self) -> Iterator[str]:
        most, largest = self.keep_most, self.max_cluster
        if most is not None and (not is_integer(most) or isinstance(most, bool) or most < 1):
            yield f"`keep_most={most!r}`: give how many documents of a cluster stay, an integer from 1"
        if not isinstance(self.drop_matched, bool):
            yield f"`drop_matched={self.drop_matched!r}`: give True or False"
        if largest is not None and (isinstance(largest, bool) or not isinstance(largest, Real) or not 0 < largest <= 1):
            hint = _as_share(largest) or ", such as 0.1"
            yield f"`max_cluster={largest!r}`: give a share of the documents, above 0 to 1{hint}"

    @cached_property
    def resources(self) -> Resources:
        """Threads, memory, and the folder and the limit of temporary files, as one object."""
        return Resources(self.threads, self.memory, self.temp_dir, self.temp_limit)

    def changed(self, **fields: Any) -> "DedupOptions":
        """The same options but for some, in the same run: its memory and temporary files are counted together."""
        made = dataclasses.replace(self, **fields)
        made.__dict__["resources"] = self.resources
        return made

    @property
    def compared_by(self) -> Similarity | SimilarityName:
        """The similarity; the name of one with the defaults of its measure."""
        return similarity_of(self.similarity)

    @property
    def version(self) -> int:
        """The version of the similarity, and of the recipe if none is given."""
        return version_of(self.compared_by)

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
        for name in ("keep_as", "guard", *CLUSTER_OPTIONS):
            if values[name] in (None, False):
                del values[name]  # as before there was this option
        values["similarity"] = plain(self.similarity)
        for name in ("keep", "within"):
            given = getattr(self, name)
            values[name] = f"{getattr(given, '__qualname__', type(given).__qualname__)}()" if callable(given) else given
        return values

    def _contradictions(self) -> Iterator[str]:
        row = METHODS[self.method]
        if self.drop_matched and self.keep_most is not None:
            yield f"`keep_most={self.keep_most}`: with `drop_matched`, none of them stays. Give one of the two"
        if self.drop_matched and self.cluster != "components":
            yield (
                f"`drop_matched=True`: `cluster={self.cluster!r}` does not list all matches. Give `cluster='components'`, in "
                "which all documents that match another are in clusters"
            )
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
    guard: Guard | None


class SurvivorOptions(TypedDict, total=False):
    """The options that decide which of the matching documents survive: those of `cluster_files`."""

    keep: Keep
    keep_as: KeepAs | None
    cluster: Cluster
    prefer_source: str | Sequence[str]
    within: str | Callable[[str], Any] | None


class WholeClusterOptions(TypedDict, total=False):
    """The options that need all documents of a cluster, so that stores and streams, which answer before, do not have them."""

    keep_most: int | None
    drop_matched: bool
    max_cluster: float | None


class ReferenceOptions(TypedDict, total=False):
    """What becomes of the documents of a reference, where a run decides on these, too."""

    prefer: Prefer


class DedupOptionsDict(MatchingOptions, SurvivorOptions, WholeClusterOptions, ResourceOptions, total=False):
    """The fields of `DedupOptions`, as keyword arguments."""


class MatchOptions(MatchingOptions, ResourceOptions, total=False):
    """The options of `match`."""

    within: str | Callable[[str], Any] | None


def demand_prefer(prefer: Any, options: DedupOptions, *, has_reference: bool) -> bool:
    """Whether documents of a reference and of the inputs are ordered together, by `prefer`.

    Raises:
        OptionError: it is no key of PREFERS, or there is nothing to order.
    """
    if not isinstance(prefer, str) or prefer not in PREFERS:
        raise OptionError(f"{one_of('prefer', prefer, PREFERS)}.")
    if prefer == "against":
        return False
    if not has_reference:
        raise OptionError(
            "`prefer='best'` orders the documents of a reference and of the inputs together, and no `against` is given. Name the "
            "reference, or leave it out."
        )
    is_first = options.preference.by is By.ORDER and not options.preference.greatest_first
    if is_first and not options.prefer_source and not options.drop_matched:
        raise OptionError(
            "`prefer='best'`: by `keep='first'`, every document of the reference is preferred to every input, which is "
            "`prefer='against'`. Give a `keep` that compares them, such as 'max:COLUMN', 'longest' or 'last'."
        )
    return True


def problem_of_keep_as(keep_as: Any, keep: Any) -> str:
    """What is wrong with a way to compare values, for a rule of preference; empty if nothing is."""
    if keep_as is None:
        return ""
    if not isinstance(keep_as, str) or keep_as not in KEEP_AS:
        return one_of("keep_as", keep_as, KEEP_AS)
    rule = preference_of(keep)
    if rule is not None and rule.by is By.VALUE:
        return ""
    return (
        f"`keep_as={keep_as!r}`: `keep={keep!r}` compares no values. Leave it out, or keep 'max:COLUMN' or 'min:COLUMN'"
    )


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
    (
        WholeClusterOptions,
        "needs all documents of a cluster, as in deduplicate() and cluster_files(); what answers about one document after "
        "another has answered before",
    ),
    (
        ReferenceOptions,
        "orders the documents of a reference and of the inputs together, as in deduplicate() and deduplicate_files(); a store "
        "does so by its own `keep`",
    ),
)
"""What the options are for that some functions take and others do not."""


def refuse_unknown(given: Collection[str], function: Callable[..., Any], called: str | None = None) -> None:
    """Check the names of options that `function` was given, besides those that it names itself. `called`: its name in messages.

    Raises:
        OptionError: the function has no option of such a name; the message says which was probably meant.
    """
    of_function = _taken_together(function)
    if all(name in of_function for name in given):
        return
    parameters = list(inspect.signature(function).parameters.values())
    named = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    positional = [
        each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD and each.name not in ("self", "cls")
    ]
    names = [*named, *of_function] or positional
    taken = [*names, *positional]
    wrong, is_helped, called = [], True, called or function.__qualname__.removesuffix(".__init__")
    for name in given:
        if name not in of_function:
            meant = meant_option(name, taken)
            purpose = next((purpose for options, purpose in PURPOSES if name in options.__annotations__), None)
            is_helped = is_helped and bool(meant or purpose)
            reason = f"{called}() has no such option"
            reason += f"; it {purpose}" if purpose else f" (did you mean `{meant}`?)" if meant else ""
            wrong.append(f"`{name}`: {reason}")
    listed = "" if is_helped else f" There are {as_code(names)}." if names else " There are none."
    raise OptionError("; ".join(wrong) + "." + listed)


def _taken_together(function: Callable[..., Any]) -> Collection[str]:
    """The keys of the typed dictionary of a function's `**options`; none if it has no such options."""
    unpacked: Any = typing.Unpack
    found = next((kind for kind in function.__annotations__.values() if typing.get_origin(kind) is unpacked), None)
    keys: dict[str, Any] = {} if found is None else typing.get_args(found)[0].__annotations__
    return keys


def public(module: ModuleType, name: str, homes: Mapping[str, str]) -> Any:
    """A public name of a module. Functions, and the methods of classes, are replaced by ones that answer such calls.

    `homes`: the modules of all public names; classes come with what is loaded, for functions return their objects.
    """
    found = getattr(module, name)
    if isinstance(found, FunctionType) and not _is_answering(found):
        found = _answering(found, name)
        setattr(module, name, found)
    elif isinstance(found, type) and found not in _NAMED:
        _NAMED.add(found)
        _answer_in(found, ("__init__",))
    else:
        return found
    for other, home in homes.items():
        kind = vars(sys.modules.get(f"neardup.{home}", module)).get(other)
        if isinstance(kind, type) and not issubclass(kind, NeardupError):
            _answer_in(kind)
    return found


_ANSWERING = "_answers_unknown_names"
_NAMED: set[type] = set()
"""Classes that somebody has named."""


def _is_answering(function: Callable[..., Any]) -> bool:
    return hasattr(function, _ANSWERING)


def _answer_in(kind: type, others: Sequence[str] = ()) -> None:
    """Let the public methods of a class, and of those of ours that it inherits from, answer such calls, and `others`: what makes
    objects only where somebody names the class, for results have many.
    """
    for base in kind.__mro__:
        names = others if _ANSWERING in vars(base) else [*others, *(each for each in vars(base) if each[0] != "_")]
        if not names or not base.__module__.startswith("neardup."):
            continue
        setattr(base, _ANSWERING, True)
        for name in names:
            held: Any = vars(base).get(name)
            is_bound = isinstance(held, classmethod | staticmethod)
            method = held.__func__ if is_bound else held
            if isinstance(method, FunctionType) and not _is_answering(method):
                answering = _answering(method, name, None if isinstance(held, staticmethod) else base)
                setattr(base, name, type(held)(answering) if is_bound else answering)


def _answering(function: Callable[..., Any], name: str, of: type | None = None) -> Callable[..., Any]:
    """The function, or the method of a class, with an OptionError in the place of Python's own errors for such calls, also of
    methods of its result.
    """
    parameters = inspect.signature(function).parameters.values()
    is_open = any(each.kind is each.VAR_KEYWORD for each in parameters)  # it refuses names itself
    names = {each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}

    def checked(*args: Any, **kwargs: Any) -> Any:
        if not is_open and not names.issuperset(kwargs):
            refuse_unknown(kwargs.keys() - names, function, name if of is None else _method_name(name, args, of))
        try:
            found = function(*args, **kwargs)
        except ValueError as problem:
            if not isinstance(problem, NeardupError):  # an integer of thousands of digits, in a message
                refuse_all_unprinted([*args, *kwargs.values()])
            raise
        _answer_in(type(found))
        return found

    async def awaited(*args: Any, **kwargs: Any) -> Any:
        return await checked(*args, **kwargs)

    called = functools.wraps(function)(awaited if inspect.iscoroutinefunction(function) else checked)
    setattr(called, _ANSWERING, True)
    return called


def _method_name(name: str, args: Sequence[Any], of: type) -> str:
    """What messages call a method of a class, or of one that inherits from it, by the object that it was called on."""
    own = args[0] if args else of
    kind = own if isinstance(own, type) else type(own)
    shown = kind.__name__ if issubclass(kind, of) else of.__name__
    return shown if name == "__init__" else f"{shown}.{name}"


def refuse_all_unprinted(values: Iterable[Any]) -> None:
    """Refuse integers of thousands of digits among values, and in lists and dictionaries."""
    for value in values:
        refuse_unprinted(value)
        if isinstance(value, Mapping):
            refuse_all_unprinted([*value, *value.values()])
        elif isinstance(value, list | tuple | set):
            refuse_all_unprinted(value)


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
    return options.changed(similarity=similarity)


def _as_share(given: Any) -> str:
    """The share that a percentage may mean, as a question; few percent are nobody's threshold."""
    is_number = isinstance(given, Real) and not isinstance(given, bool)
    if not is_number or not 10 <= given <= 100:
        return ""
    return f" (did you mean {float(given) / 100:g}?)"
