"""EXTRAPOLATION of a de-duplicated sample to the whole corpus."""

from dataclasses import dataclass

from neardup.hamming.block_plan import plan_join
from neardup.io.corpora.sample import Sample
from neardup.matching.candidates.costs import COUNT_SECONDS, FEW_PAIRS_PER_DOCUMENT, Estimate, all_pairs
from neardup.matching.distance_limit import distance_limit
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.methods import METHODS
from neardup.resources.limits import memory_bytes
from neardup.resources.pair_spool import PAIR_BYTES
from neardup.resources.shares import share_of
from neardup.survivors.decisions import Findings

DOCUMENT_BYTES = 230
"""Peak memory per document, without its fingerprint and id."""
MEMORY_BYTES_PER_BATCH = 64 << 20
"""Memory per thread for batches in flight and what is computed from them."""
MEMORY_PER_TEXT = 8
"""Or so many times the bytes of all texts, if they are few."""
UNREAD_SHARE = 0.2
"""Cost of skipping a row, as a share of the cost of reading it."""
COPY_SECONDS = 2.5e-9
"""Time to copy one byte of the survivors."""
COMPRESS_SECONDS = {"gzip": 3.4e-8, "zstd": 4.5e-9}
"""Time to compress one byte of the survivors again: 28 to 41 and 3 to 6 ns on open corpora in English and Chinese."""


def pairs_of(findings: Findings) -> float:
    """The number of candidates."""
    return len(findings.found.candidates.near) / 2


@dataclass(frozen=True, slots=True)
class Extrapolation:
    """Extrapolation of a de-duplicated sample to the whole corpus."""

    sample: Sample
    findings: Findings
    took: dict[str, float]
    estimate: Estimate | None
    recipe: Recipe
    options: DedupOptions
    threads: int
    kept_bytes: int
    """Size of the elements of all texts, if the first pass keeps them; 0 if later passes read the texts again."""

    @property
    def documents(self) -> float:
        return len(self.sample) * self.sample.growth

    @property
    def pairs(self) -> float:
        """Estimated candidates among all documents."""
        seen = pairs_of(self.findings)
        if self.estimate is None:  # by distance: grows with the square of the documents
            return min(seen * self.sample.growth**2, all_pairs(self.documents))
        if self._are_too_many:
            return self.estimate.candidates
        return max(self.estimate.candidates, min(seen * self.sample.growth, all_pairs(self.documents)))

    @property
    def _are_too_many(self) -> bool:
        """Whether all documents have so many pairs that these are not listed, as those of the sample were."""
        listed = pairs_of(self.findings) * self.sample.growth
        return self.estimate is not None and listed > FEW_PAIRS_PER_DOCUMENT * self.documents

    def seconds(self) -> dict[str, float]:
        growth, reading = self.sample.growth, self.sample.seconds * self.sample.growth
        row = METHODS[self.options.method]
        passes = () if self.kept_bytes else row.passes
        found = {}
        for name, seconds in self.took.items():
            found[name] = seconds * growth
            if name == "fingerprint" or name in passes:
                found[name] += reading
        found |= {name: found[row.passes[-1]] for name in row.passes if name not in found}
        if "read again" in found:
            found["read again"] += reading * UNREAD_SHARE
        listed = {name: 0.0 if self._are_too_many else found.get(name, 0.0) for name in ("join", "verify")}
        found["join"] = max(listed["join"], self._join_seconds())
        if "verify" in found and pairs_of(self.findings):
            found["verify"] = max(listed["verify"], self.took["verify"] * self.pairs / pairs_of(self.findings))
        found["write"] = self._write_seconds()
        rounded = {name: round(seconds, 3) for name, seconds in found.items()}
        return rounded | {"total": round(sum(rounded.values()), 3)}

    def _write_seconds(self) -> float:
        """Time to write the survivors to files like the inputs, some of which are written at the same time."""
        sample = self.sample
        each = sum(COMPRESS_SECONDS.get(name, 0.0) * share for name, share in sample.compressions.items())
        at_once = max(1, min(self.threads, sample.shards))
        return sample.total_bytes * COPY_SECONDS + sample.text_bytes * sample.growth * each / at_once

    def _join_seconds(self) -> float:
        """Join time by the constants of the estimates, scaled to this machine's speed in the sample."""
        if self.estimate is None:
            limit = distance_limit(self.recipe, self.options) or 0
            by_pairs = self.took.get("join", 0.0) * self.pairs / max(1.0, pairs_of(self.findings))
            by_tables = plan_join(
                max(1, round(self.documents)),
                bits=64 * self.recipe.words,
                max_distance=limit,
                threads=self.options.threads,
            ).seconds
            return max(by_pairs if pairs_of(self.findings) > len(self.sample) else 0.0, by_tables)
        return self.estimate.join_seconds * self.slowness / self.threads

    @property
    def slowness(self) -> float:
        """Time per token here, divided by that of the machine the constants were measured on."""
        tokens = int(self.findings.documents.tokens[self.findings.documents.valid].sum())
        seconds = self.took.get("prefixes", self.took.get("signatures", 0.0)) * self.threads
        return seconds / (tokens * COUNT_SECONDS) if tokens and seconds else 1.0

    def memory_bytes(self) -> int:
        ids = self.sample.ids_bytes * self.sample.growth
        kept = self.documents * (DOCUMENT_BYTES + 16 * self.recipe.words) + ids
        limit = memory_bytes(self.options.memory)
        finding = min(limit, self._finding_bytes() + self._held_bytes)
        texts = self.sample.text_bytes * self.sample.growth
        batches = min((self.threads + 1) * MEMORY_BYTES_PER_BATCH, MEMORY_PER_TEXT * texts)
        return int(kept + finding + batches)

    @property
    def _held_bytes(self) -> int:
        """Size of the elements of all texts if they fit the memory; 0 if they go to a file."""
        return self.kept_bytes if self.kept_bytes <= share_of(memory_bytes(self.options.memory), "elements") else 0

    def _finding_bytes(self) -> float:
        if self.estimate is not None:
            return self.estimate.memory_bytes
        return self.documents * 24 * self.recipe.words + self.pairs * PAIR_BYTES

    def temporary_bytes(self) -> int:
        limit, growth = memory_bytes(self.options.memory), self.sample.growth
        verified = self.findings.documents.tokens[self.findings.found.rows[self.findings.found.candidates.has_any]]
        sets = 8 * int(verified.sum()) * growth if self.options.min_similarity > 0 else 0
        spilled = PAIR_BYTES * self.pairs if self.pairs * PAIR_BYTES > share_of(limit, "pairs") else 0
        joined = self.estimate.disk_bytes if self.estimate else spilled
        kept = self.kept_bytes - self._held_bytes
        return int(max(kept + joined, (kept if self.kept_bytes else sets) + spilled))
