"""Candidates by MINHASH: pairs that agree in a band and in enough values of signatures, and pass the sieve of fingerprints."""

from dataclasses import replace

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.minhash import Signing
from neardup.hamming.near import row_distances
from neardup.kernels.store.postings import Keys
from neardup.matching.band_plan import Bands
from neardup.matching.bands import agree
from neardup.matching.candidates.minhash import minhash_agreement, minhash_bands
from neardup.matching.join_keys import NO_BOUND, band_keys
from neardup.matching.similarities.table import maker_of
from neardup.matching.text_features import Texts
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe
from neardup.store.candidates.proposing import Candidates, Plan, once, smaller_first
from neardup.store.formats.removal_bits import NO_MARKS
from neardup.store.formats.segments import Found, Table


class MinHashCandidates(Candidates):
    """The pairs that `dedup` proposes by this method."""

    def __init__(self, recipe: Recipe, options: DedupOptions, plan: Plan) -> None:
        super().__init__(recipe, options, plan)
        assert plan.bands is not None
        assert plan.rows is not None
        assert plan.agreement is not None
        self._bands, self._least = Bands(plan.bands, plan.rows), plan.agreement
        self.signing = Signing(
            values=self._bands.values,
            kind="one-permutation",
            bits=32,
            seed=1,
            normalize=tuple(recipe.normalize),
            similarity=maker_of(options.compared_by).given,
            version=recipe.version,
        )

    @classmethod
    def plan_of(cls, recipe: Recipe, options: DedupOptions) -> Plan:
        bands = minhash_bands(options.min_similarity)
        agreement = minhash_agreement(options.min_similarity, bands)
        return replace(super().plan_of(recipe, options), bands=bands.bands, rows=bands.rows, agreement=agreement)

    def is_found(self, texts: Texts) -> Array:
        assert texts.signatures is not None
        found: Array = self.long_enough(texts) & (texts.signatures.sizes > 0)
        return found

    def _keys(self, texts: Texts) -> Keys:
        assert texts.signatures is not None
        wanted = np.flatnonzero(self.is_found(texts))
        return band_keys(texts.signatures.values[wanted], wanted, self._bands)

    def keep(self, texts: Texts, numbers: Array) -> None:
        keys = self._keys(texts)
        self.derived.postings("bands").add(keys._replace(texts=numbers[keys.texts]))

    def found_by_keys(self, texts: Texts) -> Found:
        return self.proposed(texts, once(self.derived.postings("bands").find(self._keys(texts), self.gone.bits)))

    def among_by_keys(self, texts: Texts) -> Found:
        keys, kept = self._keys(texts), Table()
        kept.add(keys)
        return self.proposed_among(texts, smaller_first([kept.find(keys, NO_MARKS, NO_BOUND)]))

    def proposed(self, texts: Texts, pairs: Found) -> Found:
        numbers, at = np.unique(pairs.found, return_inverse=True)
        rows = self.contents.rows(numbers)
        return self._proposed(
            texts, pairs, self.contents.signatures(numbers, rows), self.contents.fingerprints(rows), at
        )

    def proposed_among(self, texts: Texts, pairs: Found) -> Found:
        assert texts.signatures is not None
        return self._proposed(texts, pairs, texts.signatures.values, texts.prints.values, pairs.found)

    def _proposed(self, texts: Texts, pairs: Found, signatures: Array, prints: Array, at: Array) -> Found:
        """`at`: which of the signatures and fingerprints the second of each pair has."""
        assert texts.signatures is not None
        proposed = agree(texts.signatures.values, pairs.asked, signatures, at, self._bands, self._least)
        if self.max_distance is not None:
            proposed &= row_distances(texts.prints.values[pairs.asked], prints[at]) <= self.max_distance
        return Found(pairs.asked[proposed], pairs.found[proposed])
