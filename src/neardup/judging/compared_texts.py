"""The texts of a removed document and its survivor, or of a kept one and the nearest, read again and compared."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from neardup.errors import InputError, OptionError
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.storage.places import Place
from neardup.judging.difference import Difference
from neardup.judging.report import summary_of_run
from neardup.judging.reports.run_inputs import inputs_of_run
from neardup.progress import Progress
from neardup.resources.resources import Resources
from neardup.text.given_elements import elements_of


@dataclass(frozen=True, slots=True)
class Side:
    """A document of a pair: its id, its row among the rows of the inputs, or else its file in the reference and its row there."""

    id: Any
    row: int
    reference: str | None = None


def sides_of(line: dict[str, Any]) -> tuple[Side, Side]:
    """The removed document of an audit line, and its survivor."""
    if "unit" in line:
        raise OptionError(
            "`diff=True`: the run removed lines or paragraphs, which the audit has as they were. Leave it out."
        )
    if line["survivor_id"] is None:
        raise OptionError(
            "`diff=True`: the run removed all documents that match another, so there is no kept one to compare with. Leave it out."
        )
    survivor = Side(line["survivor_id"], line["survivor_row"])
    if line["survivor_row"] is None:
        survivor = Side(line["survivor_id"], line["reference_row"], line["reference"])
    return Side(line["id"], line["row"], line.get("file")), survivor


def differences(audit: Place, pairs: Iterable[tuple[Side, Side]]) -> tuple[Difference, ...]:
    """The differences between the texts of some pairs of documents.

    Raises:
        InputError: the inputs are missing, have changed, or cannot be read again.
    """
    wanted = list(pairs)
    inputs = inputs_of_run(summary_of_run(audit), audit, Resources(), Progress())
    if inputs.corpus is None:
        raise InputError(f"`diff=True`: the texts are needed. {inputs.reason}")
    sides = [side for pair in wanted for side in pair]
    texts = texts_of(inputs.corpus, [side for side in sides if side.reference is None])
    for side in (each for each in sides if each.reference is not None):
        shards = [] if inputs.reference is None else inputs.reference.shards
        named = [shard for shard in shards if shard.name == side.reference]
        if inputs.reference is None or not named:
            raise InputError(f"`diff=True`: {side.reference}, the reference, has no texts that can be read again.")
        texts |= texts_of(inputs.reference.part(named), [side])
    return tuple(Difference.of(first.id, second.id, (texts[first], texts[second])) for first, second in wanted)


def texts_of(corpus: FileCorpus, sides: list[Side]) -> dict[Side, str]:
    """The texts of some rows of a corpus, which is read no further than to the last of them.

    Raises:
        InputError: a row is missing, or of another document.
    """
    found: dict[Side, str] = {}
    rows = {side.row: side for side in sides}
    last = max(rows, default=-1)
    for first, batch in corpus.map(lambda batch: batch):
        for row in (each for each in rows if first <= each < first + len(batch.texts)):
            text, name = batch.texts[row - first].as_py(), batch.ids[row - first].as_py()
            if text is None or json.loads(name) != rows[row].id:
                raise InputError(
                    "The inputs are not what they were when the audit was written. Put those back, or run again."
                )
            found[rows[row]] = json.dumps(elements_of(text), ensure_ascii=False) if batch.of_elements else text
        if first + len(batch.texts) > last:
            break
    if len(found) < len(rows):
        raise InputError("The inputs have fewer rows than when the audit was written. Put those back, or run again.")
    return {side: found[rows[side.row]] for side in sides}
