"""The whole flow in one function, `find_duplicates`; and `deduplicate`, which does it for texts in memory.

read → normalize → tokenize → weigh → hash → FINGERPRINT     fingerprints/documents.py
→ equal texts                                                matching/equal_texts.py
→ CANDIDATES: which documents may match                      matching/candidates/
→ read again → VERIFY by the similarity of the texts         matching/similarities/
→ CLUSTER                                                    survivors/clusters.py
→ DECIDE which survive                                       survivors/decisions.py
→ tables of results here, files in jobs/removal/dedup.py             survivors/
"""

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, overload

import numpy as np

from neardup.arrays import Array
from neardup.errors import InputError, OptionError
from neardup.fingerprints.documents import Documents, FirstPass, KeptValues, join_documents, read_documents
from neardup.io.corpora.protocol import Corpus, SourcedCorpus, pair_of
from neardup.io.corpora.reading import Html
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.io.resume.checkpoints import NO_CHECKPOINTS, Checkpoints
from neardup.matching.candidates.methods import opener_of
from neardup.matching.candidates.task import Found, Task
from neardup.matching.equal_texts import exact_representatives
from neardup.matching.resolved_options import ResolvedOptions, resolve
from neardup.matching.similarities.element_store import ElementStore
from neardup.options import DedupOptions, DedupOptionsDict, Prefer, demand_prefer, options_of
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.methods import METHODS
from neardup.resources.memory_use import give_back
from neardup.survivors.clusters import Verification
from neardup.survivors.decisions import (
    Decisions,
    Findings,
    chosen,
    decide,
    demand_small_clusters,
    in_order_of_preference,
)
from neardup.survivors.dedup_result import DedupResult
from neardup.survivors.excerpts import largest_clusters
from neardup.survivors.families import find_candidates_of_components, find_candidates_of_survivors
from neardup.survivors.records.counting import summarize
from neardup.survivors.records.result_tables import annotations, clusters_table, duplicates_table
from neardup.survivors.records.superseded import superseded_table
from neardup.survivors.reference_matches import count_reference_matches
from neardup.text.frame_types import Item, Rows, Streamed
from neardup.text.scripts import ScriptCount

if TYPE_CHECKING:
    import pyarrow as pa

FREE_SHARE = 4
"""The elements of all texts are kept if they take at most a quarter of the free space for temporary files."""


def find_duplicates(
    corpus: SourcedCorpus,
    recipe: Recipe,
    options: DedupOptions,
    progress: Progress,
    *,
    reference: Corpus | Documents | None = None,
    keep_elements: bool = True,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
    columns: Sequence[str] = (),
    together: bool = False,
) -> Findings:
    """Find the duplicates of a corpus. Reads it once, up to twice more for a join of texts, and again for texts to verify.

    Reference documents always survive and are not compared with each other. A preloaded reference has only fingerprints, so it
    can only be matched by distance. With `together`, the answer is that of one run over the reference and then the corpus.

    With `keep_elements`, the first pass stores what an exact join needs of all texts in a temporary file about as large as the
    texts, if there is room; later passes then do not read texts again. `checkpoints` save the results of passes and steps. The
    values of `columns` are kept besides those that the options need: `columns_with` names all of them, as the corpus gives them.
    """
    resolved = resolve(recipe, options)
    if resolved.note is not None:
        progress.say(resolved.note)
    _check_sources(corpus, reference if together else None, options.prefer_source)
    with contextlib.ExitStack() as stack:
        kept = None
        if keep_elements and (room := min(room_for_elements(resolved.options), checkpoints.free_bytes() // FREE_SHARE)):
            kept = ElementStore.of_join(
                options.compared_by, recipe, resources=options.resources, room=room, share=lambda: progress.share
            )
            stack.enter_context(kept)
        scripts = ScriptCount.wanted(recipe, options.compared_by)
        with progress.stage("fingerprint"):
            how = FirstPass(checkpoints, side_pass=kept, scripts=scripts)
            read = _read(corpus, reference, resolved, progress, how, columns, together=together)
        if scripts is not None and (advice := scripts.advice(recipe)):
            progress.say(advice)
        return _decide(read, progress, checkpoints)


def _check_sources(corpus: SourcedCorpus, other: Any, sources: Sequence[str]) -> None:
    """Refuse sources that no document has; those of `other` count as well, if documents of both are ordered together."""
    if other is None:
        corpus.check_sources(tuple(sources))
        return
    for source in sources:
        try:
            corpus.check_sources((source,))
        except InputError:
            with contextlib.suppress(InputError):
                other.check_sources((source,))
                continue
            raise


class _Read(NamedTuple):
    """The result of the first pass over a corpus and its reference.

    Attributes:
        resolved: the recipe and the options of the run.
        corpus: both as one, for reading again.
        documents: of both; `inputs`: the number of rows in the corpus itself.
        sides: uint8[rows], see `Task`; None without a reference, and if it is ordered together with the corpus.
        sources: int64[rows that are ordered], see `SourcedCorpus.source_ranks`; `skips`: see there.
        kept: the elements of all texts, if there was room.
        together: see `find_duplicates`.
    """

    resolved: ResolvedOptions
    corpus: Corpus
    documents: Documents
    inputs: int
    sides: Array | None
    sources: Array | None
    skips: bool | None
    kept: ElementStore | None
    together: bool = False

    @property
    def decided(self) -> int:
        """How many rows may be removed: those from there on are of a reference, and stay."""
        return len(self.documents) if self.together else self.inputs


def room_for_elements(options: DedupOptions) -> int:
    """Bytes that the elements of all texts may take in a temporary file; 0 if no join will need them."""
    if not METHODS[options.taken()].keeps_elements:
        return 0
    return options.resources.free_bytes // FREE_SHARE


def _read(
    corpus: SourcedCorpus,
    reference: Corpus | Documents | None,
    resolved: ResolvedOptions,
    progress: Progress,
    how: FirstPass,
    columns: Sequence[str],
    *,
    together: bool,
) -> _Read:
    """Fingerprint the documents of a corpus and of its reference."""
    options = resolved.options
    read = partial(read_documents, recipe=resolved.recipe, progress=progress, resources=options.resources)
    values = KeptValues(columns_with(options, columns), options.functions, options.guard)
    documents = read(corpus, values=values, how=how._replace(name="inputs-fingerprint"))
    inputs, sides = len(documents), None
    whole: Corpus = corpus
    sources = corpus.source_ranks(tuple(options.prefer_source))
    if reference is not None:
        if isinstance(reference, Documents):
            others = reference
        else:
            how = how._replace(name="reference-fingerprint", first_row=inputs)
            of_reference = values._replace(columns=reference_columns(options, together=together))
            others = read(reference, values=of_reference, how=how)
            whole = pair_of(corpus, inputs, reference)
        documents = join_documents(documents, others, resources=options.resources)
    if reference is not None and together and sources is not None:
        of_other: Any = reference
        sources = np.concatenate([sources, of_other.source_ranks(tuple(options.prefer_source))])
    elif reference is not None and not together:
        sides = np.where(np.arange(len(documents)) < inputs, 3, 2).astype(np.uint8)
    kept = how.side_pass if isinstance(how.side_pass, ElementStore) and not how.side_pass.is_full else None
    if kept is not None:
        kept.finish(len(documents))
    return _Read(resolved, whole, documents, inputs, sides, sources, corpus.skips, kept, together)


def _decide(read: _Read, progress: Progress, checkpoints: Checkpoints) -> Findings:
    """Find equal texts and candidates, verify, cluster, and choose survivors."""
    documents, inputs, options = read.documents, read.inputs, read.resolved.options
    scratch = options.resources.scratch
    with progress.stage("exact"):
        groups = documents.groups(options)
        order = in_order_of_preference(
            documents, options, sources=read.sources, inputs=inputs, skips=read.skips, together=read.together
        )
        preferred = scratch.keep(order)
        representative = exact_representatives(documents, preferred, groups, scratch=scratch)
        distinct = scratch.keep(preferred[preferred == representative])
    give_back()

    task = Task(
        corpus=read.corpus,
        documents=documents,
        rows=distinct,
        representative=distinct,
        recipe=read.resolved.recipe,
        options=options,
        progress=progress,
        sides=read.sides,
        groups=groups,
        kept=read.kept,
        checkpoints=checkpoints,
        survivors_first=options.cluster == "star",
    )
    with Verification(task) as verification:

        def fixed(rows: Array) -> int:
            return int(np.count_nonzero(rows >= read.decided))

        def find() -> Found:
            with opener_of(options.taken())(task) as join:
                search = find_candidates_of_survivors if task.survivors_first else find_candidates_of_components
                return search(join, verification, fixed=fixed(join.task.rows))

        found = checkpoints.checkpoint("candidates", find)
        give_back()

        def settle() -> tuple[Decisions, int, int]:
            clustering = verification.all(found.candidates, found.rows, fixed(found.rows))
            with progress.stage("survivors"):
                decisions = decide(documents, preferred, representative, found.rows, clustering, scratch=scratch)
            return decisions, clustering.compared, clustering.matches

        decisions, compared, matches = checkpoints.checkpoint("decisions", settle)
    matching = 0
    if read.decided < len(documents):
        as_found: dict[str, Any] = {"method": found.method}
        matching = count_reference_matches(
            read.corpus,
            documents,
            read.resolved.recipe,
            dataclasses.replace(options, **as_found),
            decisions,
            inputs=inputs,
            kept=read.kept,
            progress=progress,
        )
    demand_small_clusters(decisions.of_first(read.decided), documents.ids, options)
    decisions = chosen(decisions, preferred, options, inputs=read.decided)
    short = int(np.count_nonzero((documents.tokens[preferred] < found.min_tokens) & (preferred < inputs)))
    give_back()
    if options.resources.excess():
        progress.say(options.resources.excess())
    return Findings(documents, inputs, decisions, found, short, compared, matches, matching, read.together)


def columns_with(options: DedupOptions, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns whose values options need, then those of `columns` that they do not."""
    return tuple(dict.fromkeys((*options.columns, *columns)))


def reference_columns(options: DedupOptions, *, together: bool = False) -> tuple[str, ...]:
    """The columns needed from a reference. Its documents always survive, so `keep` needs no columns, unless it is ordered with the
    inputs.
    """
    if together:
        return options.columns
    return tuple(name for name in options.columns if name == options.grouped_by)


class DeduplicateOptions(DedupOptionsDict, total=False):
    """All keyword arguments of `deduplicate`."""

    text: str | Iterable[str]
    id: str | None
    elements: str | None
    html: Html | None
    against: Any
    prefer: Prefer
    source: str | None
    recipe: RecipeLike | None
    progress: Watcher


@overload
def deduplicate(data: list[Item], **options: Unpack[DeduplicateOptions]) -> DedupResult[list[Item]]: ...
@overload
def deduplicate(data: tuple[Item, ...], **options: Unpack[DeduplicateOptions]) -> DedupResult[tuple[Item, ...]]: ...
@overload
def deduplicate(data: Rows, **options: Unpack[DeduplicateOptions]) -> DedupResult[Rows]: ...  # type: ignore[overload-overlap]
@overload
def deduplicate(data: Streamed, **options: Unpack[DeduplicateOptions]) -> DedupResult["pa.Table"]: ...
@overload
def deduplicate(data: Iterator[Item], **options: Unpack[DeduplicateOptions]) -> DedupResult[list[Item]]: ...
@overload
def deduplicate(data: Iterable[Item], **options: Unpack[DeduplicateOptions]) -> DedupResult[Sequence[Item]]: ...
def deduplicate(
    data: Any,
    *,
    text: str | Iterable[str] = "text",
    id: str | None = None,  # noqa: A002 - the same name as the flag
    elements: str | None = None,
    html: Html | None = None,
    against: Any = None,
    prefer: Prefer = "against",
    source: str | None = None,
    recipe: RecipeLike | None = None,
    progress: Watcher = None,
    **options: Unpack[DedupOptionsDict],
) -> DedupResult[Any]:
    """Remove near-duplicates from texts in memory.

    Args:
        data: the texts: a list or an iterator of strings or of dicts, a column of Arrow, pandas or polars, or a table. A table
            is an Arrow table, a data frame of pandas or polars, a Hugging Face dataset, a DuckDB relation, or any other object
            with an Arrow C stream. Survivors come back as the same type, with two exceptions: an iterator gives a list, and
            DuckDB relations and streams give an Arrow table.
        text: the column of the texts. Several columns are joined by a newline. Write nested columns with dots: `meta.body`.
        id: the column of the ids. By default this is `id`; without such a column, documents are identified by row.
        elements: a column of lists of strings or integers, instead of texts: documents are near-duplicates if their elements are.
            Data that is one list of sets or of lists needs no name. Elements are compared as they are given: `A` is not `a`, and
            the integer 1 is not the string "1". Elements that occur several times count once, but for the similarities `weighted`
            and `edit`; the order of elements matters for `edit` only. Two empty sets are equal.
        html: the texts are HTML. `main` takes the main text of each page, `whole` takes all visible text.
        against: a reference of any of these types. Documents near one of its documents are removed; the documents of the
            reference are not compared with one another. Its columns have the same names as in the data.
        prefer: one of `neardup.options.PREFERS`. With `best`, `keep` orders the documents of the reference and of the data
            together; ties go to the reference. The answer is that of one run over the reference and the data, of which the
            survivors in the data are returned; `superseded` has the documents of the reference that another is preferred to.
        source: the column that names the source of each row; for `prefer_source`.
        recipe: how texts become fingerprints: a `Recipe`, a name in RECIPES, or the path of a .toml file; the default is
            `Recipe()`.
        progress: True shows the progress as the command line does. A function is called with each `ProgressEvent`. By default
            nothing is shown.
        **options: the fields of `DedupOptions`: min_similarity, max_distance, keep, within, prefer_source, cluster, threads …

    Raises:
        OptionError: an option has a value that is not allowed, or the data has an unsupported type.
        InputError: a column does not exist.
        DataError: a text is null or not a string.

    >>> result = deduplicate(["A rose is a rose is a rose, said she.", "a rose is a rose is a rose said she", "A tulip."])
    >>> result.survivors
    ['A rose is a rose is a rose, said she.', 'A tulip.']
    """
    chosen, progress = options_of(options, deduplicate), progress_of(progress)
    recipe = recipe_of(recipe, chosen.version)
    if source is not None and not chosen.prefer_source:
        raise OptionError(
            f"`source={source!r}`: it is for `prefer_source`, which is not given. Give that, or leave out `source`."
        )
    open_table = partial(TableCorpus, text=text, id=id, elements=elements, html=html, say=progress.say)
    corpus = open_table(data, values=chosen.columns, source=source, resources=chosen.resources)
    recipe, chosen = corpus.fitted(recipe, chosen)
    reference, together = None, demand_prefer(prefer, chosen, has_reference=against is not None)
    if against is not None:
        reference = open_table(
            against,
            values=reference_columns(chosen, together=together),
            source=source if together else None,
            called="against",
            names_are_optional=True,
            resources=chosen.resources,
        )
        corpus.demand_same_kind(reference, ("data", "against"))
    findings = find_duplicates(corpus, recipe, chosen, progress, reference=reference, together=together)
    decisions, ids = findings.of_inputs, corpus.ids_with(reference)
    return DedupResult(
        survivors=corpus.keep(decisions.kept),
        duplicates=duplicates_table(
            decisions, ids, with_matched=chosen.cluster == "components", with_reference=reference is not None
        ),
        clusters=clusters_table(decisions, ids),
        annotations=annotations(decisions, ids, slice(0, len(decisions.survivor)), ids_are_json=False),
        kept=decisions.kept,
        summary=summarize(findings, recipe, chosen, progress, repeated_ids=corpus.repeated_ids, html=html),
        superseded=superseded_table(findings, ids, with_matched=chosen.cluster == "components") if together else None,
        _excerpts=largest_clusters(decisions, ids, corpus, reference, recipe),
    )
