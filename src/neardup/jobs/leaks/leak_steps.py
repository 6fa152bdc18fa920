"""The steps of a search for leaks in files: find, list, summary and page."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from neardup.display import ToldLine, counted, share_text
from neardup.io.checks.number_files import refuse_lone_numbers
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.io.formats.text_sink import StandardOutput
from neardup.io.outputs.output_names import STANDARD_OUTPUT
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.places import place_of
from neardup.jobs.leaks.find import Leaks, find_leaks, leak_columns, summarize_leaks
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.jobs.results import JobResult, passed_over, places_of, took
from neardup.matching.contamination.options import DecontaminationOptions
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.survivors.leaks.summary import LeakSummary


@dataclass(frozen=True)
class FileLeaks(JobResult):
    """The result of `leak_files`.

    Attributes:
        summary: the counts and seconds.
        files: the paths of inputs, test set, output, summary and report, by these names; None for files that were not written.
    """

    summary: LeakSummary
    files: dict[str, Any]

    def __repr__(self) -> str:
        return f"FileLeaks({self.summary.in_a_line()})"

    def lines(self) -> Iterator[ToldLine]:
        """The lines for the terminal."""
        counts = self.summary
        whole = counts.test_documents
        yield "read", f"{counted(counts.train_documents, 'training document')}, {counted(whole, 'test document')}"
        yield "leaked", f"{counted(counts.leaked, 'test document')}{share_text(counts.leaked, whole)}"
        for side, number in (("training", counts.train_documents), ("test", whole)):
            if not number:
                yield "warning", f"there are no {side} documents, so nothing was compared"
        for each in counts.strengths:
            also = f"; {each.found:,} with stronger ones" if each.found > each.documents else ""
            yield "", f"{each.strength:<9}  {each.documents:,}{share_text(each.documents, whole)}{also}"
        if len(counts.tests) > 1:
            for test in counts.tests:
                yield "", f"{test.test}: {test.leaked:,} of {test.documents:,}{share_text(test.leaked, test.documents)}"
        if counts.rejected:
            yield "skipped", f"{counted(counts.rejected, 'row')} could not be read"
        yield from passed_over(counts.passed_over)
        if counts.short:
            few = f"of fewer than {counts.options['min_tokens']} tokens"
            yield "note", f"{counted(counts.short, 'test document')} {few}: not searched for in passages"
        yield from places_of(self.files, ("output", "report"))

    def details(self) -> Iterator[ToldLine]:
        """How the work was done: what `--verbose` adds."""
        yield took(self.summary)
        yield from places_of(self.files, ("summary",))


def search_shards(
    sets: tuple[tuple[Sequence[Shard], Reading], tuple[Sequence[Shard], Reading]],
    recipe: Recipe,
    near: DedupOptions,
    passages: DecontaminationOptions,
    paths: OutputPaths,
    files: dict[str, Any],
    outputs: Outputs,
    progress: Progress,
    *,
    on_error: str,
) -> FileLeaks:
    """Search some files; see `neardup.jobs.leaks.leak_files.leak_files`. `sets`: the training set, and the test set."""
    how: dict[str, Any] = {"on_error": on_error, "progress": progress, "resources": near.resources}
    train, test = (
        FileCorpus(shards, reading.columns(), refine=refuse_lone_numbers(shards), **how) for shards, reading in sets
    )
    train.check()
    test.check(named_by="against_")
    found = find_leaks(train, test, recipe, near, passages, progress)
    tests = [(shard.name, test.rows_of(number)) for number, shard in enumerate(test.shards)]
    html = sets[0][1].html
    done = FileLeaks(summarize_leaks(found, recipe, near, passages, progress, tests=tests, html=html), files)
    lines = _lines(found, train, test)
    to_standard_output = paths.outputs[:1] == (STANDARD_OUTPUT,)
    if paths.outputs and not to_standard_output:
        outputs.write_lines(paths.outputs[0], lines)
    if paths.summary is not None:
        outputs.claim(paths.summary).write_bytes(done.to_json(indent=2))
    if files["report"] is not None:
        from neardup.judging.reports.page import leaks_page

        page = leaks_page(json.loads(done.to_json()), map(json.loads, lines))
        outputs.claim(place_of(files["report"])).write_bytes(page)
    if to_standard_output:
        shown = StandardOutput()
        shown.write("".join(lines).encode())
        shown.flush()
    outputs.commit()
    return done


def _lines(found: Leaks, train: FileCorpus, test: FileCorpus) -> list[str]:
    """A JSON line for each test document that is in the training set."""
    table = leak_columns(found, (found.test.ids, found.train.ids), (test.locate, train.locate))
    return [json.dumps(_as_given(line), ensure_ascii=False) + "\n" for line in table.to_pylist()]


def _as_given(line: dict[str, Any]) -> dict[str, Any]:
    """A line with its ids as the inputs have them; the column has them as JSON values."""
    return line | {name: None if line[name] is None else json.loads(line[name]) for name in ("id", "train_id")}
