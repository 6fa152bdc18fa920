"""REFERENCE MATCHES: how many documents match a reference, each by itself, whatever else it matches.

A document that is kept matches none. In a star, one whose survivor is in the reference matches that survivor. The matches of the
others are listed: they are more similar to another input, or a chain of matches connects them with the reference.
"""

import dataclasses

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.documents import Documents
from neardup.io.corpora.protocol import Corpus
from neardup.matching.equal_texts import exact_representatives
from neardup.matching.matches import list_matches
from neardup.matching.similarities.element_store import ElementStore
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.survivors.decisions import Decisions


def count_reference_matches(
    corpus: Corpus,
    documents: Documents,
    recipe: Recipe,
    options: DedupOptions,
    decisions: Decisions,
    *,
    inputs: int,
    kept: ElementStore | None,
    progress: Progress,
) -> int:
    """The number of documents of the first `inputs` rows that match one of the others, as `match` finds them.

    `options`: with the method that was used. `kept`: the elements of all documents, if the first pass kept them.
    """
    survivor = decisions.survivor[:inputs]
    removed = (survivor >= 0) & (survivor != np.arange(inputs))
    by_reference = survivor >= inputs
    known, asked = 0, np.flatnonzero(removed & by_reference)
    if options.cluster == "star":
        known, asked = len(asked), np.flatnonzero(removed & ~by_reference)
    if not len(asked):
        return known
    with progress.stage("reference"):
        return known + _matching(corpus, documents, recipe, options, asked, inputs=inputs, kept=kept)


def _matching(
    corpus: Corpus,
    documents: Documents,
    recipe: Recipe,
    options: DedupOptions,
    asked: Array,
    *,
    inputs: int,
    kept: ElementStore | None,
) -> int:
    """How many of the rows `asked` match a row of the reference."""
    groups = documents.groups(options)
    first = exact_representatives(documents, asked, groups)
    tokens = np.where(np.arange(len(documents)) < inputs, -1, documents.tokens)
    tokens[first] = documents.tokens[first]
    parts = list_matches(
        corpus,
        dataclasses.replace(documents, tokens=tokens),
        recipe,
        options=options,
        progress=Progress(),
        first_of_other=inputs,
        distinct=True,
        kept=kept,
    )
    found = np.zeros(inputs, np.bool_)
    for part in parts:
        found[part.left] = True
    return int(np.count_nonzero(found[first]))
