"""Evaluate methods, distances and similarities on the documents of files."""

import dataclasses
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from neardup.io.corpora.file_corpus import open_corpus
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.reading import Reading, recipe_for, split_options
from neardup.io.corpora.shards import listed_inputs
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.places import place_of
from neardup.judging.evaluation.evaluate import evaluate_corpus
from neardup.judging.evaluation.given_labels import Labeled, labels_of
from neardup.judging.evaluation.labels import LabelFile
from neardup.judging.evaluation.options import MIN_PRECISION, SAMPLE, TARGET_RECALL, EvaluateFileOptions
from neardup.judging.evaluation.plot import FORMATS as PLOT_FORMATS
from neardup.judging.evaluation.plot import check_plot, draw
from neardup.judging.evaluation.request import EvaluationRequest, similarities_of
from neardup.judging.evaluation.result import Evaluation
from neardup.judging.evaluation.scoring.scores import USUAL
from neardup.judging.reports.commands import flags_of
from neardup.options import OnError
from neardup.progress import Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.similarity import Similarity, SimilarityLike, is_in_words
from neardup.recipe.tables.methods import MeasuredMethod
from neardup.resources.unfinished import temporary_folder


def evaluate_files(
    inputs: str | Path | Sequence[str | Path],
    *,
    pairs: Labeled | None = None,
    complete: bool = False,
    methods: MeasuredMethod | Sequence[MeasuredMethod] = (),
    target_recall: float = TARGET_RECALL,
    min_precision: float = MIN_PRECISION,
    sample: int = SAMPLE,
    seed: int = 0,
    output: str | Path | None = None,
    plot: str | Path | None = None,
    recipe: RecipeLike | None = None,
    on_error: OnError = "stop",
    overwrite: bool = False,
    progress: Watcher = None,
    **options: Unpack[EvaluateFileOptions],
) -> Evaluation:
    """Measure precision and recall of each method at each distance and similarity, and recommend options.

    With labels, the methods are measured against them. Without labels, `sample` documents are drawn at random and compared with
    all others. Their near-duplicates are then known exactly, and the shares are estimates with 95 % intervals. Neither time nor
    memory grows with the square of the input.

    Args:
        inputs: texts, as in `deduplicate_files`.
        pairs: labeled pairs, in memory as in `evaluate`, or in a file (.jsonl, .csv, .tsv or .parquet). The columns are left_id
            and right_id, or a and b; then similarity or jaccard (a number from 0 to 1), or label (0, 1, true or false). A pair is
            positive if its label is, if its similarity is at least min_similarity, or if it has neither column.
        complete: the labels include every positive pair, so a found pair that is not listed counts as false. Otherwise such
            pairs count as unlabeled, and precision is measured among listed pairs.
        methods: the methods to measure; all but `auto` by default.
        target_recall: the recall that the recommended options reach.
        min_precision: the precision that they keep, where pairs are known to be false: at most 1 - min_precision of what they
            find is false.
        sample: the number of documents to compare with all others.
        seed: the random seed of the sample.
        output: the path for the result as JSON; none by default.
        plot: the path for a chart of the result: .png, .svg or .pdf; none by default.
        on_error: the treatment of rows that cannot be read: `stop`, or `skip` and count them.
        recipe, overwrite, progress: as in `deduplicate_files`.
        **options: the fields of `neardup.io.corpora.reading.Reading` (text, id …);
            min_similarity, similarity, max_distance, threads, memory, temp_dir, temp_limit of `DedupOptions`. With labels, every
            similarity is tried unless one is given.

    Raises:
        InputError, OptionError, DataError: as in `deduplicate_files`; also for labels that name unknown ids or are ambiguous.
        MissingExtra: `plot` is given, and matplotlib is not installed.
    """
    (reading, chosen), progress = split_options(options, evaluate_files), progress_of(progress)
    if plot is not None:
        check_plot(plot)
    used = recipe_for(reading, recipe_of(recipe, chosen.version))
    paths = [place_of(path) for path in (output, plot) if path is not None]
    labels = None if pairs is None else labels_of(pairs)
    of_labels = [labels.path] if isinstance(labels, LabelFile) else []
    with temporary_folder(chosen.resources.files) as spool:
        corpus = open_corpus(
            inputs, reading, temporary=spool, on_error=on_error, progress=progress, resources=chosen.resources
        )
        reads = ReadFiles(corpus.shards, {"the file of labels": of_labels})
        reads.refuse(paths)
        corpus.check()
        with Outputs(paths, reads=reads, overwrite=overwrite, temp_dir=chosen.temp_dir) as outputs:
            result = evaluate_corpus(
                corpus,
                recipe=used,
                options=chosen,
                request=EvaluationRequest(
                    labels=labels,
                    complete=complete,
                    methods=methods,
                    similarities=similarities_of(options),
                    of_elements=reading.elements is not None,
                    target_recall=target_recall,
                    min_precision=min_precision,
                    sample=sample,
                    seed=seed,
                ),
                progress=progress,
            )
            result = _with_commands(
                result, inputs, reading, recipe=recipe, similarity=options.get("similarity"), on_error=on_error
            )
            corpus.tell_rejected()
            if output is not None:
                outputs.claim(place_of(output)).write_text(result.to_json(), encoding="utf-8")
            if plot is not None:
                draw(result, outputs.claim(place_of(plot)), kind=PLOT_FORMATS[Path(plot).suffix.lower()])
            outputs.commit()
    return result


def _with_commands(
    result: Evaluation,
    inputs: str | Path | Sequence[str | Path],
    reading: Reading,
    *,
    recipe: RecipeLike | None,
    similarity: SimilarityLike | None,
    on_error: OnError,
) -> Evaluation:
    """The result with the commands that do on the inputs what it recommends."""
    best = result.recommendation.best
    if best is None or result.recommendation.withheld:
        return result
    options = best.options()
    if isinstance(best.similarity, Similarity):
        if reading.elements is not None:
            options["similarity"] = best.similarity.measure
        elif isinstance(similarity, str | os.PathLike):
            options["similarity"] = os.fspath(similarity)
        elif is_in_words(best.similarity):
            options["similarity"] = str(best.similarity)
        else:
            return result  # a similarity that is in no file
    if reading.elements is not None and recipe is None:
        recipe = "default"
    if "recipe" not in options:
        if not isinstance(recipe, str | os.PathLike):
            return result  # a recipe that is in no file
        options["recipe"] = os.fspath(recipe)
    options = {name: value for name, value in options.items() if value != USUAL.get(name)}
    options |= {name: getattr(reading, name) for name in reading.changed}
    options |= {"on_error": on_error} if on_error != "stop" else {}
    names = [str(name) for name in listed_inputs(inputs)]
    names = [f"./{name}" if name[:1] == "-" != name else name for name in names]
    flags = flags_of(options)
    distinct = flags_of({"distinct": result.truth == "sample"})
    folder = _new("deduplicated.jsonl" if "-" in names else "deduplicated/")
    commands = (
        ["neardup", "pairs", *names, "-o", _new("pairs.jsonl"), *distinct, *flags],
        ["neardup", "dedup", *names, "-o", folder, *flags],
    )
    recommendation = dataclasses.replace(result.recommendation, commands=tuple(map(shlex.join, commands)))
    return dataclasses.replace(result, recommendation=recommendation)


def _new(name: str) -> str:
    """This name of an output, or with a number before its ending if there is such a file: outputs that exist are refused."""
    stem, ending = (name[:-1], "/") if name.endswith("/") else os.path.splitext(name)
    names = (f"{stem}{number}{ending}" for number in ("", *range(2, 1000)))
    return next((each for each in names if not Path(each).exists()), name)
