"""The whole flow in one function, `find_duplicates`; and `deduplicate`, which does it for texts in memory.

read → normalize → tokenize → weigh → hash → FINGERPRINT      documents.py (text/, fingerprints/, kernels/)
→ equal texts                                                 survivors.py
→ JOIN: which documents may match                             candidates/ (prefix_join/, pairs.py)
→ read again → VERIFY by the similarity of the texts          similarities/
→ CLUSTER                                                     clusters.py
→ choose SURVIVORS                                            survivors.py
→ write survivors and an audit of every removal               jobs/dedup.py, audit.py, io/
"""

import contextlib
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.display import SHOWN_ROWS, counted, html_table
from neardup.errors import OptionError
from neardup.fingerprints.documents import Corpus, CorpusPair, Documents, SourcedCorpus, join_documents, read_documents
from neardup.io.table_corpus import TableCorpus
from neardup.matching.candidates.methods import find_candidates
from neardup.matching.candidates.task import Found, Task
from neardup.matching.distance_limit import distance_limit
from neardup.matching.equal_texts import exact_representatives
from neardup.matching.similarities.stored import SetFile, ShingleSets
from neardup.options import DedupOptions, options_of
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import recipe_of
from neardup.recipe.recipe import Recipe
from neardup.resources.allocators import give_back
from neardup.survivors.annotations import annotations
from neardup.survivors.clusters import CLUSTERERS, Clustering
from neardup.survivors.decisions import Decisions, Findings, decide, in_order_of_preference
from neardup.survivors.result_tables import clusters_table, duplicates_table
from neardup.survivors.summary import Summary, summarize
from neardup.text.frames import frame_of
from neardup.text.preference import groups_of

FREE_SHARE = 4
"""Elements of all texts are kept if they take no more than a quarter of what is free where temporary files go."""


def find_duplicates(
    corpus: SourcedCorpus,
    recipe: Recipe,
    options: DedupOptions,
    progress: Progress,
    *,
    reference: Corpus | Documents | None = None,
    keep_elements: bool = True,
) -> Findings:
    """Find the duplicates of a corpus: read once, up to twice more for a join of texts, and again for what must be verified.

    The documents of a `reference` survive in any case; which of them are near one another is not looked at. Of one that was read
    before only fingerprints are known, so it is for decisions by distance alone.

    With `keep_elements` the first pass keeps what an exact join needs of all texts in a temporary file, about as large as the
    texts, if there is room; then texts are not read again.
    """
    room = room_for_elements(options) if keep_elements else 0
    with contextlib.ExitStack() as stack:
        kept = None
        if room:
            kept = stack.enter_context(
                SetFile(options.similarity, recipe, resources=options.resources, form="elements", room=room)
            )
        return _find_duplicates(corpus, recipe, options, progress, reference=reference, kept=kept)


def room_for_elements(options: DedupOptions) -> int:
    """Bytes that the elements of all texts may take in a temporary file; 0 if no join will need them."""
    if options.taken() not in ("auto", "exact"):
        return 0
    return shutil.disk_usage(options.temp_dir or tempfile.gettempdir()).free // FREE_SHARE


def _find_duplicates(
    corpus: SourcedCorpus,
    recipe: Recipe,
    options: DedupOptions,
    progress: Progress,
    *,
    reference: Corpus | Documents | None,
    kept: SetFile | None,
) -> Findings:
    distance_limit(recipe, options)  # refused, if at all, before any work
    options.resources.use.clear()
    sources_named = tuple(options.prefer_source)
    corpus.check_sources(sources_named)
    read = partial(
        read_documents,
        recipe=recipe,
        progress=progress,
        resources=options.resources,
        functions=options.functions,
        besides=kept,
    )
    with progress.stage("fingerprint"):
        documents = read(corpus, columns=options.columns)
        inputs, sides = len(documents), None
        whole: Corpus = corpus
        sources = corpus.source_ranks(sources_named)
        if reference is not None:
            if isinstance(reference, Documents):
                others = reference
            else:
                others = read(reference, columns=reference_columns(options), first_row=inputs)
                whole = CorpusPair(corpus, inputs, reference)
            documents = join_documents(documents, others)
            sides = np.where(np.arange(len(documents)) < inputs, 3, 2).astype(np.uint8)
        if kept is not None:
            if kept.is_full:
                kept = None
            else:
                kept.finish(len(documents))

    with progress.stage("exact"):
        groups = None if options.grouped_by is None else groups_of(documents.values[options.grouped_by])
        scratch = options.resources.scratch
        preferred = scratch.keep(in_order_of_preference(documents, options, sources=sources, inputs=inputs))
        representative = exact_representatives(documents, preferred, groups, scratch=scratch)
        distinct = scratch.keep(preferred[preferred == representative])
    give_back()

    task = Task(whole, documents, distinct, distinct, recipe, options, progress, sides, groups, kept)

    found = whole.once("candidates", lambda: find_candidates(task))
    give_back()

    def settle() -> tuple[Decisions, int, int]:
        clustering = _cluster(task, found, fixed=int(np.count_nonzero(found.rows >= inputs)))
        with progress.stage("survivors"):
            decisions = decide(documents, preferred, representative, found.rows, clustering, scratch=scratch)
        return decisions, clustering.compared, clustering.matches

    short = int(np.count_nonzero((documents.tokens[preferred] < found.min_tokens) & (preferred < inputs)))
    decisions, compared, matches = whole.once("decisions", settle)
    give_back()
    if options.resources.excess():
        progress.say(options.resources.excess())
    return Findings(documents, inputs, decisions, found, short, compared, matches)


def _cluster(task: Task, found: Found, *, fixed: int) -> Clustering:
    """Verify candidates, and say which survivor each belongs to; the first `fixed` survive in any case."""
    near, candidates, progress = found.rows, found.candidates, task.progress
    options = task.options
    cluster = partial(CLUSTERERS[options.cluster], resources=options.resources)
    least = options.min_similarity
    if least == 0:
        with progress.stage("cluster", len(near)):
            return cluster(candidates, near, None, min_similarity=0.0, progress=progress, fixed=fixed)
    if task.kept is not None and task.kept.is_of_verification:
        with progress.stage("verify", len(near)):
            return cluster(candidates, near, task.kept, min_similarity=least, progress=progress, fixed=fixed)
    wanted = np.zeros(len(task.documents), np.bool_)
    wanted[near[candidates.has_any]] = True
    with progress.stage("read again", int(wanted.sum())):
        sets = ShingleSets.read(task.corpus, wanted, task.recipe, task.options, progress)
    with sets, progress.stage("verify", len(near)):
        return cluster(candidates, near, sets, min_similarity=least, progress=progress, fixed=fixed)


def reference_columns(options: DedupOptions) -> tuple[str, ...]:
    """The columns whose values are needed of a reference: which of its documents is preferred is no question."""
    return tuple(name for name in options.columns if name == options.grouped_by)


@dataclass(frozen=True)
class DedupResult:
    """What `deduplicate` returns.

    Attributes:
        survivors: the documents that are kept, in input order, as the kind of thing that was given.
        duplicates: Arrow table, one row for each removed document: id, row, survivor_id, survivor_row, cluster_id, similarity,
            distance, exact; with cluster="components" also matched_id and matched_similarity; with a reference also
            reference_row, the survivor's row there, null where the survivor is of the data.
        clusters: Arrow table of the documents that are not alone: id, row, cluster_id, survivor_id.
        annotations: Arrow table, one row for each row of the data: cluster_id, cluster_size, is_duplicate, duplicate_of,
            similarity, distance; cluster_size is 1 for a document that is alone.
        kept: bool[rows], whether the row survives.
        summary: counts and seconds.
    """

    survivors: Any
    duplicates: Any
    clusters: Any
    annotations: Any
    kept: Array
    summary: Summary

    def of(self, data: Any) -> Any:
        """The rows that survive of anything that has as many rows as the data: embeddings, labels, another table.

        Raises:
            OptionError: it has more rows, or fewer.
        """
        frame = frame_of(data)
        if frame.rows != len(self.kept):
            raise OptionError(
                f"data has {counted(frame.rows, 'row')}, but {counted(len(self.kept), 'row')} were de-duplicated. Give as many."
            )
        return frame.keep(self.kept)

    def __repr__(self) -> str:
        return f"DedupResult({self.summary.in_a_line()})"

    def _repr_html_(self) -> str:
        shown = self.duplicates.slice(0, SHOWN_ROWS)
        return f"<p>{self.summary.in_a_line()}</p>" + html_table(
            shown.column_names,
            zip(*(column.to_pylist() for column in shown.columns), strict=True),
            self.duplicates.num_rows,
        )


def deduplicate(
    data: Any,
    *,
    text: str | Iterable[str] = "text",
    id: str | None = None,  # noqa: A002 - the same name as the flag
    html: str | None = None,
    against: Any = None,
    source: str | None = None,
    recipe: Recipe | None = None,
    progress: Watcher = None,
    **options: Any,
) -> DedupResult:
    """Remove near-duplicates from texts in memory.

    Args:
        data: texts: a list or an iterator of strings or of dicts, an Arrow, pandas or polars column; or a table: of Arrow, a data
            frame of pandas or polars, a dataset of Hugging Face, a DuckDB relation, or what else has Arrow's C stream. Survivors
            come back as the same kind of thing: those of an iterator as a list, of a DuckDB relation and of streams as an Arrow
            table.
        text: the column of the texts, or several, which are joined by a newline; nested ones with dots: `meta.body`.
        id: the column of the ids; `id` if there is one, else documents are known by row.
        html: the texts are HTML: `main` takes the main text of each page, `whole` all that it shows.
        against: a reference, of any of these kinds: what is near one of its documents is removed, and its documents are not
            compared with one another. Columns have the names that they have in the data.
        source: the column that says which source a row is of; for `prefer_source`.
        recipe: how texts become fingerprints; `Recipe()` if not given.
        progress: True for what the command line shows, or a function that is called with each `ProgressEvent`; nothing is told if
            not given.
        **options: the fields of `DedupOptions`: min_similarity, max_distance, keep, within, prefer_source, cluster, threads …

    Raises:
        OptionError: an option has a value that is not allowed, or the data is nothing of the kind.
        InputError: there is no such column.
        DataError: a text is null or no string.

    >>> result = deduplicate(["A rose is a rose is a rose, said she.", "a rose is a rose is a rose said she", "A tulip."])
    >>> result.survivors
    ['A rose is a rose is a rose, said she.', 'A tulip.']
    """
    recipe, progress = recipe_of(recipe), progress_of(progress)
    chosen = options_of(**options)
    if source is not None and not chosen.prefer_source:
        raise OptionError(
            f"source={source!r}: it is for prefer_source, which is not given. Give it, or leave source out."
        )
    corpus = TableCorpus(
        data, text=text, id=id, html=html, values=chosen.columns, source=source, resources=chosen.resources
    )
    reference = None
    if against is not None:
        reference = TableCorpus(
            against,
            text=text,
            id=id,
            html=html,
            values=reference_columns(chosen),
            called="against",
            names_are_optional=True,
            resources=chosen.resources,
        )
    findings = find_duplicates(corpus, recipe, chosen, progress, reference=reference)
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
    )
