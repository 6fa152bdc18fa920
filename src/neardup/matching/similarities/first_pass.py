"""Compute fingerprints and elements of texts together, so that texts are normalized and tokenized only once."""

from typing import Any

import numpy as np

from neardup.fingerprints.simhash import (
    Fingerprints,
    feature_form,
    fingerprint_array,
    fingerprint_normalized,
    room_for_fingerprints,
)
from neardup.fingerprints.workspace import Workspace
from neardup.kernels.fingerprints.shingles import sort_spare
from neardup.kernels.fingerprints.simhash import scratch
from neardup.kernels.matching.first_pass import fingerprints_and_elements
from neardup.kernels.text.tokens import most_tokens
from neardup.matching.similarities.table import ElementMaker, Elements, room_for_elements
from neardup.recipe.recipe import Recipe
from neardup.text.normalizers import digests_without_figures, normalized
from neardup.text.unicode_tables import fold_tables

_WORKSPACE = Workspace(
    lambda longest, words: (scratch(longest, words), np.empty(sort_spare(most_tokens(longest)), np.uint64))
)


def first_pass(texts: Any, recipe: Recipe, maker: ElementMaker) -> tuple[Fingerprints, Elements]:
    """Return `fingerprint_array` and `ElementMaker.elements` for an Arrow `large_string` array of valid UTF-8."""
    if recipe.profile is not None or not maker.is_of_recipe:
        return fingerprint_array(texts, recipe), maker.elements(texts, recipe)
    if recipe.needs_names:
        normal = normalized(texts, recipe.normalize)
        return fingerprint_normalized(normal, recipe), maker.elements_of_normalized(normal, recipe)
    folded = _WORKSPACE.fold(texts, recipe.normalize)
    forms = feature_form(recipe), maker.element_form(recipe, maker.joined)
    memory, sorting = _WORKSPACE.scratch(int(np.diff(folded.offsets).max(initial=0)), recipe.words)
    prints, out = room_for_fingerprints(len(folded), recipe.words), room_for_elements(folded, forms[1])
    tables = fold_tables(recipe.version)
    fingerprints_and_elements(folded.data, folded.offsets, forms, memory, sorting, tables, prints, out)
    return Fingerprints(*prints, digests_without_figures(folded)), Elements.of(out)
