"""SAYS: why the other run kept a document that one run removed, as far as its options and the two texts tell."""

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from neardup.display import similarity_text, threshold_text
from neardup.errors import DECODER_ERRORS, NeardupError
from neardup.fingerprints.numbers import number_digests
from neardup.fingerprints.simhash import fingerprint_array
from neardup.hamming.near import row_distances
from neardup.judging.runs.recorded import RecordedRun
from neardup.matching.similarities.compare_texts import similarities_to
from neardup.recipe.kinds import few_tokens
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import stored_recipe
from neardup.recipe.similarity import Similarity, stored_similarity
from neardup.recipe.tables.methods import METHODS
from neardup.recipe.tables.similarities import SimilarityName, is_of_older_similarity
from neardup.survivors.records.audit_reader import Line


@dataclass(frozen=True, slots=True)
class OtherRun:
    """What a run says of two texts that another run took for duplicates.

    Attributes:
        run: the run.
        recipe, similarity: how it compares texts; None if a part is not here.
        same_texts: whether both read the same texts, and these can be compared as they are shown.
        same_as_other: whether the similarity that the other run recorded is its own, too.
    """

    run: RecordedRun
    recipe: Recipe | None
    similarity: Similarity | SimilarityName | None
    same_texts: bool
    same_as_other: bool

    @classmethod
    def of(cls, run: RecordedRun, other: RecordedRun) -> "OtherRun":
        """Restore what a run compares by, for what `other` removed."""
        mine, yours = run.summary, other.summary
        texts = run.reading == other.reading and run.reading["elements"] is None
        same = mine["recipe"]["digest"] == yours["recipe"]["digest"] and run.reading == other.reading
        same = same and mine["options"]["similarity"] == yours["options"]["similarity"]
        try:
            recipe = stored_recipe(mine["recipe"])
            is_here = not (recipe.missing or is_of_older_similarity(mine) or mine["method"] not in METHODS)
            return cls(run, recipe, stored_similarity(mine["options"]["similarity"]) if is_here else None, texts, same)
        except DECODER_ERRORS:
            return cls(run, None, None, texts, same)

    def says(self, line: Line, texts: tuple[str, str] | None, survivor: Line | None) -> str:
        """Why it did not remove what the line of the other run says was removed, as the end of a sentence.

        `texts`: of the survivor and of the removed one, if they can be read. `survivor`: its own line about the survivor, if it
        removed that.
        """
        if survivor is not None:
            if (survivor["survivor_row"], survivor.get("survivor_unit")) == (line["row"], line.get("unit")):
                return "kept this one, and removed the other instead"
            name = json.dumps(survivor["survivor_id"], ensure_ascii=False)
            whose = "" if survivor["survivor_id"] is None else f", as a duplicate of {name}"
            return f"removed the other, too{whose}, and kept this one"
        if line["survivor_id"] is None:
            return "kept this one"
        if line["survivor_row"] is None and line.get("reference") not in self.run.summary["files"].get("against", ()):
            return "did not compare with this reference"
        reasons = self._why_apart(line, texts)
        return f"kept both: {reasons}" if reasons else "kept both"

    def _why_apart(self, line: Line, texts: tuple[str, str] | None) -> str:
        summary, found = self.run.summary, list[str]()
        alike, distance = (line["similarity"], line["distance"]) if self.same_as_other else (None, None)
        alike = 1.0 if line["exact"] and self.same_as_other else alike
        if texts is not None and self.same_texts and self.recipe is not None and self.similarity is not None:
            try:
                alike, distance, reasons = self._compared(*texts)
            except NeardupError:  # a part of the recipe is not here
                reasons = []
            found += reasons
        most, least = summary["max_distance"], summary["min_similarity"]
        if not found and most is not None and distance is not None and distance > most and not line["exact"]:
            found.append(f"distance {distance} is above {most}")
        if alike is not None and alike < least:
            found.append(f"similarity {similarity_text(alike, least)} is below {threshold_text(least)}")
        if found or alike is None:
            return "; ".join(found)
        return f"similarity {similarity_text(alike, least)} reaches {threshold_text(least)}, {self._but()}"

    def _but(self) -> str:
        options = self.run.summary["options"]
        if options.get("within") is not None:
            return f"but only documents with equal values match (within {options['within']})"
        if missed := METHODS[self.run.summary["method"]].why_missed:
            return f"but {self.run.summary['method']} missed the pair: {missed}"
        if options.get("keep_most"):
            return f"but {options['keep_most']} documents of a cluster stay"
        return "but it did not take them for duplicates"

    def _compared(self, survivor: str, removed: str) -> tuple[float, int, list[str]]:
        """The similarity, the distance, and why the two do not match whatever these are."""
        assert self.recipe is not None
        assert self.similarity is not None
        both, summary = pa.array([survivor, removed], pa.large_string()), self.run.summary
        alike = float(similarities_to(survivor, both[1:], similarity=self.similarity, recipe=self.recipe)[0])
        prints, reasons = fingerprint_array(both, self.recipe), list[str]()
        distance = int(row_distances(prints.values[1:], prints.values[:1])[0])
        equal = bool((prints.digests[0] == prints.digests[1]).all())
        guard: Any = summary["options"].get("guard")
        if guard is not None and len(set(number_digests(both, self.recipe.normalize).tolist())) > 1:
            reasons.append(f"they have other numbers (guard {guard})")
        if not equal and int(prints.tokens.min()) < summary["min_tokens"]:
            reasons.append(f"one of them has {few_tokens(summary['min_tokens'])}, so only equal texts match")
        if not equal and summary["max_distance"] is not None and distance > summary["max_distance"]:
            reasons.append(f"distance {distance} is above {summary['max_distance']}")
        return alike, distance, reasons
