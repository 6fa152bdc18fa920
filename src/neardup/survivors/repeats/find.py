"""The flow: first pass → windows → earliest places → cuts."""

import contextlib
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.documents import Documents
from neardup.io.corpora.protocol import Corpus, SourcedCorpus, pair_of
from neardup.io.resume.checkpoints import NO_CHECKPOINTS, Checkpoints
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.survivors.decisions import in_order_of_preference
from neardup.survivors.repeats.cuts import Cuts, find_cuts
from neardup.survivors.repeats.earliest import Earliest, Order, find_earliest_places
from neardup.survivors.repeats.first_pass import Places, Source, read_sources
from neardup.survivors.repeats.options import PassageOptions
from neardup.survivors.repeats.partitions import Partitions
from neardup.survivors.repeats.seen import SeenMinimizers
from neardup.survivors.repeats.token_stream import TokenStream
from neardup.survivors.repeats.windows import RegionFiles, WindowFinder, find_windows, salts_of
from neardup.text.preference import groups_of


@dataclass(frozen=True, slots=True)
class Repeats:
    """What is repeated in a corpus.

    Attributes:
        documents: of the corpus, and then of the reference; without fingerprints.
        inputs: rows of the corpus itself.
        places: of all rows.
        found: the cuts, which are of the corpus itself.
        stream: what cut the texts into tokens.
        corpus: the corpus itself, to be read again.
    """

    documents: Documents
    inputs: int
    places: Places
    found: Cuts
    stream: TokenStream
    corpus: Corpus


def find_repeats(
    corpus: SourcedCorpus,
    recipe: Recipe,
    options: PassageOptions,
    progress: Progress,
    *,
    reference: Corpus | None = None,
    columns: int = 1,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
) -> Repeats:
    """Find the runs of tokens that stood earlier: in a reference, in a preferred document, or before in the same one.

    Reads the corpus twice. An L-gram (a window of `min_tokens` tokens) is *repeated* if the same tokens stand at an earlier place,
    and a token is cut if a repeated L-gram covers it. So every cut token is the same as one at an earlier place, which is kept or
    is cut because of one that is earlier still.

    `columns`: see `TokenStream`.
    """
    corpus.check_sources(tuple(options.order.prefer_source))
    stream, resources = TokenStream(options.tokens_by, recipe, columns), options.resources
    seen = SeenMinimizers(resources)
    with contextlib.ExitStack() as stack:
        with progress.stage("read"):
            values, within = options.order.columns, options.order.grouped_by
            given = [Source(corpus, "passages-inputs", values)]
            if reference is not None:
                given.append(Source(reference, "passages-reference", [name for name in values if name == within]))
            documents, sizes, rows = read_sources(given, stream, options, seen, progress, checkpoints)
            whole = corpus if reference is None else pair_of(corpus, rows[0], reference)
            seen.finish()
        places = Places.of(sizes, resources.scratch)
        sources = corpus.source_ranks(tuple(options.order.prefer_source))
        preferred = in_order_of_preference(
            documents, options.order, sources=sources, inputs=rows[0], skips=corpus.skips
        )
        order, groups = Order.of(places, preferred, rows[0]), _groups(documents, options)
        partitions = Partitions(int(places.starts[-1]), resources)
        stack.callback(partitions.words.close)
        regions = RegionFiles(resources)
        stack.callback(regions.close)
        with progress.stage("windows", len(documents)):
            finder = WindowFinder(stream, options.min_tokens, seen)
            salts = salts_of(groups)
            find_windows(whole, finder, places, partitions, regions, progress, salts=salts, checkpoints=checkpoints)
        del seen, finder
        earliest = Earliest(places, resources)
        stack.callback(earliest.close)
        with progress.stage("earliest"):
            for _ in find_earliest_places(partitions, order, earliest, resources):
                pass
        with progress.stage("cuts"):
            found = find_cuts(earliest, regions.whole(), options.min_tokens, order, options.scope, groups, resources)
    return Repeats(documents, rows[0], places, found, stream, corpus)


def _groups(documents: Documents, options: PassageOptions) -> Array | None:
    """int64[rows]: only passages of rows with the same number are compared; None if those of all are."""
    if options.scope == "same-document":
        return np.arange(len(documents))
    return None if options.order.grouped_by is None else groups_of(documents.values[options.order.grouped_by])
