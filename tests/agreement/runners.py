"""The runners: each takes a corpus in files and options, and gives an outcome. To add one, write a function and a row of RUNNERS."""

import importlib.util
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

import naive
import neardup
import postgres_server
from agreement.corpora import Corpus
from agreement.layouts import SCHEMA, Files, Layout
from engine_runs import SMALL, USUAL
from engines.corpus_parts import CorpusParts
from neardup.cli.main import main
from neardup.dedup import reference_columns
from neardup.engines.flow import deduplicate
from neardup.engines.job.local_engine import SerialEngine
from neardup.engines.job_options import Work
from neardup.io.corpora.file_corpus import open_corpus
from neardup.io.corpora.reading import Reading
from neardup.options import DedupOptions
from neardup.service.client import responses
from neardup.survivors.records.cluster_file import read_cluster_file

ADDED = ("rows", "documents", "rejected", "survivors", "duplicates", "exact_duplicates", "short", "repeated_ids")
"""Counts of a run that are the sums of those of its parts."""
ONLY_DIGITS = "only_digits"
"""A column of the audit, null where only fingerprints are known."""
COUNTS = (
    *ADDED,
    "clusters",
    "matches",
    "method",
    "max_distance",
    "min_similarity",
    "min_tokens",
    "reference_documents",
)


@dataclass(frozen=True)
class Case:
    """What all runners are given: a corpus, its layout, and the options of `deduplicate`."""

    corpus: Corpus
    options: dict
    layout: Layout = field(default_factory=Layout)

    @property
    def version(self):
        """The version of the recipe."""
        return neardup.RECIPES[self.options.get("recipe", "default")].recipe.version

    @property
    def flags(self):
        """The options as flags."""
        given = self.options | ({"against": "ref.jsonl"} if self.corpus.reference else {})
        return [part for name, value in given.items() for part in (f"--{name.replace('_', '-')}", value)]

    def only(self, *names):
        """Some of the options as flags."""
        return list(self._pairs(names))

    def _pairs(self, names):
        for name in names:
            if name in self.options:
                yield from (f"--{name.replace('_', '-')}", self.options[name])


@dataclass(frozen=True)
class Outcome:
    """What a run left.

    Attributes:
        removed: the rows that are gone, ascending.
        audit: its lines, parsed.
        counts: those of the summary, by name; only those that the runner has.
        audit_bytes, output: the audit and the outputs (by name) as they are; None for a runner without files.
    """

    removed: list[int]
    audit: list[dict]
    counts: dict
    audit_bytes: bytes | None = None
    output: dict[str, bytes] | None = None


def call(*arguments):
    """Run a command, which must succeed."""
    try:
        code = main([*map(str, arguments), "--quiet"]) or 0
    except SystemExit as end:
        code = end.code
    assert code == 0, arguments


def tree(folder):
    """The files of a folder, by relative name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def joined(folder):
    """The audits of a folder, one after another."""
    return b"".join(content for _, content in sorted(tree(folder).items()))


def outcome(folder, audit, counts):
    """The outcome of a run that wrote its output to a folder."""
    lines = [json.loads(line) for line in audit.splitlines()]
    return Outcome(sorted(line["row"] for line in lines), lines, counts, audit, tree(folder))


def counts_of(summary):
    return {name: summary[name] for name in COUNTS}


def batch(case: Case, files: Files, *flags):
    """`neardup dedup`."""
    call("dedup", *files.whole, "-o", "kept/", "--audit", "audit.jsonl", *case.flags, *case.layout.flags, *flags)
    return outcome(
        "kept", Path("audit.jsonl").read_bytes(), counts_of(json.loads(Path("audit.summary.json").read_bytes()))
    )


def audits_by_shard(case: Case, files: Files):
    """The same, with an audit for each shard."""
    call("dedup", *files.whole, "-o", "kept/", "--audit", "audits/", *case.flags, *case.layout.flags)
    return outcome("kept", joined("audits"), counts_of(json.loads(Path("audits.summary.json").read_bytes())))


def resumed(case: Case, files: Files):
    """The same, by passes whose results are read from files again."""
    return batch(case, files, "--resume")


def library(case: Case, files: Files):
    """`deduplicate_files`."""
    against = {"against": "ref.jsonl"} if case.corpus.reference else {}
    found = neardup.deduplicate_files(
        files.whole, "kept/", audit="audit.jsonl", threads=2, **against, **case.options, **case.layout.reading
    )
    return outcome("kept", Path("audit.jsonl").read_bytes(), counts_of(found.summary.as_dict()))


def _in_memory(case: Case, data, against):
    found = neardup.deduplicate(data, against=against, **case.options)
    audit = found.duplicates.to_pylist()
    removed = sorted(line["row"] for line in audit)
    assert [row for row, kept in enumerate(found.kept) if not kept] == removed
    return Outcome(removed, audit, counts_of(found.summary.as_dict())), found


def memory(case: Case, files: Files):
    """`deduplicate` of rows in memory."""
    done, found = _in_memory(case, files.rows, case.corpus.reference or None)
    gone = set(done.removed)
    assert found.survivors == [row for number, row in enumerate(files.rows) if number not in gone]
    return done


def table(case: Case, files: Files):
    """`deduplicate` of an Arrow table."""
    reference = pa.Table.from_pylist(case.corpus.reference, SCHEMA) if case.corpus.reference else None
    return _in_memory(case, pa.Table.from_pylist(files.rows, SCHEMA), reference)[0]


def _stages(case: Case, files: Files, parts, *, pairs_as, more=()):
    """All stages, with the shards in these parts; written shard by shard. The audits are verified as one."""
    recipe, reading = case.only("recipe"), case.layout.flags
    near = case.only("method", "min_similarity", "similarity", "max_distance", "guard") + recipe
    values = ["--value", case.options["within"]] if "within" in case.options else []
    numbers, prints, pairs = range(len(parts)), [], []
    for number, part in enumerate(parts):
        prints.append(f"{number}.parquet")
        call("fingerprint", *part, "-o", prints[-1], *reading, *values, *recipe)
    for left, right in itertools.combinations_with_replacement(numbers, 2):
        other = [word for name in parts[right] for word in ("--against", name)] if left != right else []
        pairs.append(f"{left}-{right}.{pairs_as}")
        call("pairs", *parts[left], *other, "-o", pairs[-1], *near, *reading, *more)
    documents = [word for name in prints for word in ("--documents", name)]
    call("clusters", *pairs, *documents, "-o", "clusters.parquet", *case.only("keep", "cluster", "within"))
    Path("audits").mkdir()
    for number, part in enumerate(files.parts):
        call("apply", "clusters.parquet", part, "-o", "kept/", "--audit", f"audits/{number}/", *reading)
    assert neardup.verify_files("kept/", audit="audits").proven
    summaries = [json.loads(Path(f"audits/{number}.summary.json").read_bytes()) for number in range(len(files.parts))]
    for number in range(len(files.parts)):
        Path(f"audits/{number}.summary.json").unlink()
    counts = counts_of(read_cluster_file("clusters.parquet").summary)
    assert {name: sum(each[name] for each in summaries) for name in ADDED} == {name: counts[name] for name in ADDED}
    return outcome("kept", joined("audits"), counts)


def stages(case: Case, files: Files):
    """`fingerprint`, `pairs`, `clusters`, `apply`, each shard by shard."""
    return _stages(case, files, [[part] for part in files.parts], pairs_as="parquet", more=["--distinct"])


def stages_at_once(case: Case, files: Files):
    """The same, with all shards in one part."""
    return _stages(case, files, [files.parts], pairs_as="jsonl.gz")


def definition(case: Case, files: Files):
    """The definitions of `tests/naive.py`, which look at every pair."""
    options = {
        "method": "exact",
        "min_similarity": 0.8,
        "similarity": "jaccard",
        "keep": "first",
        "cluster": "star",
    } | case.options
    by_distance, least = options["method"] == "simhash", options["min_similarity"]
    min_tokens = 8 if by_distance else 1
    every = [*files.rows, *case.corpus.reference]
    texts, n = [row["text"] for row in every], len(files.rows)
    group = [row[options["within"]] for row in every] if "within" in options else [None] * len(every)
    inputs = range(n)
    if options["keep"] == "last":
        inputs = inputs[::-1]
    elif options["keep"] in ("longest", "shortest"):
        sign = -1 if options["keep"] == "longest" else 1
        inputs = sorted(inputs, key=lambda row: (sign * len(texts[row]), row))
    order = [*range(n, len(every)), *inputs]
    normalized, version = [naive.normalize(text) for text in texts], case.version
    prints = [naive.fingerprint(text, version=version) for text in texts]
    first = {}
    for row in order:
        first.setdefault((normalized[row], group[row]), row)
    same = {row: first[normalized[row], group[row]] for row in order}
    near = [row for row in order if same[row] == row and len(naive.tokens(texts[row], version)) >= min_tokens]

    def similarity(a, b):
        return naive.similarity(texts[a], texts[b], options["similarity"], version=version)

    def grade(p, q):
        a, b = near[p], near[q]
        distance = (prints[a] ^ prints[b]).bit_count()
        if group[a] != group[b] or (a >= n and b >= n) or (by_distance and distance > options["max_distance"]):
            return -1
        return similarity(a, b) if least > 0 else 1 / (1 + distance)

    if options["cluster"] == "star":
        found = [survivor for survivor, _ in naive.star(len(near), grade, max(least, 1e-9))]
    else:
        found = naive.components(len(near), grade, max(least, 1e-9))
    survivor = {row: row for row in order} | {near[p]: near[q] for p, q in enumerate(found)}
    of = {row: survivor[same[row]] for row in order}
    gone = [row for row in range(n) if of[row] != row]
    cluster = {}
    for row in range(n):
        cluster.setdefault(of[row], row)
    audit = []
    for row in gone:
        stays, equal = of[row], normalized[row] == normalized[of[row]]
        known = equal or least > 0
        audit.append({
            "id": every[row]["id"], "row": row, "survivor_id": every[stays]["id"], "survivor_row": stays if stays < n else None,
            "cluster_id": cluster[stays], "exact": equal, "distance": (prints[row] ^ prints[stays]).bit_count(),
            "similarity": (1.0 if equal else similarity(row, stays)) if known else None,
            "only_digits": not equal and naive.without_digits(normalized[row]) == naive.without_digits(normalized[stays]),
        } | ({"reference_row": stays - n if stays >= n else None} if case.corpus.reference else {}))  # fmt: skip
    counts = {
        "rows": n, "documents": n, "survivors": n - len(gone), "duplicates": len(gone), "clusters": len({of[row] for row in gone}),
        "exact_duplicates": sum(line["exact"] for line in audit), "reference_documents": len(case.corpus.reference),
    }  # fmt: skip
    return Outcome(gone, audit, counts)


def stored(case: Case, files: Files):
    """A store that is given some rows at a time, under their numbers, and is closed and opened in between."""
    matching = {name: value for name, value in case.options.items() if name not in ("keep", "cluster")}
    neardup.Store("s", **matching).close()
    answers, texts = [], [row["text"] for row in files.rows]
    for first in range(0, len(texts), 37):
        with neardup.Store("s", threads=2) as store:
            some = texts[first : first + 37]
            answers += store.check_and_add_many(range(first, first + len(some)), some)
    return _of_answers(files, answers)


def shared(case: Case, files: Files):
    """A store in PostgreSQL, to which two services add in turns, one of which forgets what it knew in between."""
    matching = {name: value for name, value in case.options.items() if name not in ("keep", "cluster")}
    place = postgres_server.running().place(postgres_server.new_schema())
    answers, texts = [], [row["text"] for row in files.rows]
    with neardup.Store(f"{place}&replica=one", **matching) as one:
        for turn, first in enumerate(range(0, len(texts), 37)):
            some = texts[first : first + 37]
            rows = range(first, first + len(some))
            if turn % 2:
                with neardup.Store(f"{place}&replica=other{turn % 4}") as other:
                    answers += other.check_and_add_many(rows, some)
            else:
                answers += one.check_and_add_many(rows, some)
    return _of_answers(files, answers)


def served(case: Case, files: Files):
    """A service over HTTP, which gets some rows at a time in one of its ways, and is ended and started in between."""
    from service.serving import LINES, lines, listening

    matching = {name: value for name, value in case.options.items() if name not in ("keep", "cluster")}
    neardup.Store("served", **matching).close()
    texts, answers = [row["text"] for row in files.rows], []
    for part in range(0, len(texts), 60):
        with listening({"default": "served"}) as url, neardup.Client(url) as client:
            for first in range(part, min(part + 60, len(texts)), 20):
                some = texts[first : first + 20]
                rows = range(first, first + len(some))
                if first % 60 == 0:
                    answers += [client.check_and_add(row, text) for row, text in zip(rows, some, strict=True)]
                elif first % 60 == 20:
                    answers += client.check_and_add_many(list(rows), some)
                else:
                    body = lines({"id": row, "text": text} for row, text in zip(rows, some, strict=True))
                    found = client._http.post("/v1/stores/default/check-and-add", content=body, headers=LINES)
                    answers += [responses.answers(b"[" + line + b"]")[0] for line in found.content.splitlines()]
    return _of_answers(files, answers)


def _of_answers(files: Files, answers):
    """The outcome of answers of a store to rows under their numbers."""
    audit = []
    for row, answer in enumerate(answers):
        if not answer.is_new:
            best, ids = answer.matches[0], [files.rows[number]["id"] for number in (row, answer.duplicate_of)]
            audit.append({
                "id": ids[0], "row": row, "survivor_id": ids[1], "survivor_row": best.id, "cluster_id": best.id,
                "exact": answer.exact, "distance": best.distance, "similarity": best.similarity,
            })  # fmt: skip
    counts = {"documents": len(answers), "survivors": len(answers) - len(audit), "duplicates": len(audit)}
    return Outcome([line["row"] for line in audit], audit, counts)


def serial_engine(case: Case, files: Files, limits=USUAL):
    """The stages of the engines, over parts of a few rows."""
    options = DedupOptions(**{name: value for name, value in case.options.items() if name != "recipe"})
    corpus = open_corpus(files.whole, Reading(**case.layout.reading), values=options.columns)
    reference = None
    if case.corpus.reference:
        reference = open_corpus(["ref.jsonl"], Reading(), values=reference_columns(options))
    parts = CorpusParts(corpus, options, size=7, reference=reference)
    engine = SerialEngine(Path("work"), parts)
    work = replace(Work.of(neardup.RECIPES[case.options.get("recipe", "default")].recipe, options), limits=limits)
    found = engine.collect(deduplicate(engine, work).results).sort_by("doc")
    (rows, _), (survivors, of_reference), (clusters, _) = (
        parts.rows(found.column(name).to_numpy()) for name in ("doc", "survivor", "cluster")
    )
    audit = []
    for i, row in enumerate(rows.tolist()):
        stays, is_given = int(survivors[i]), not of_reference[i]
        known = found.column("similarity")[i].as_py()
        audit.append({
            "id": files.rows[row]["id"], "row": row,
            "survivor_id": (files.rows if is_given else case.corpus.reference)[stays]["id"],
            "survivor_row": stays if is_given else None, "cluster_id": int(clusters[i]),
            "exact": found.column("exact")[i].as_py(), "distance": found.column("distance")[i].as_py(),
            "similarity": None if known != known else known, "only_digits": found.column("only_digits")[i].as_py(),
        } | ({"reference_row": None if is_given else stays} if case.corpus.reference else {}))  # fmt: skip
    n = len(files.rows)
    counts = {"documents": n, "survivors": n - len(audit), "duplicates": len(audit)}
    return Outcome([line["row"] for line in audit], audit, counts)


def divided_engine(case: Case, files: Files):
    """The same, with what only large corpora need: waves and tiles of large groups, rounds, and walks by component."""
    return serial_engine(case, files, SMALL)


def of_both_kinds(case: Case):
    """In memory, ids are a column of one type."""
    kinds = {type(row["id"]) for row in [*case.corpus.rows, *case.corpus.reference]}
    return "ids in memory are of one kind" if len(kinds) > 1 else None


def not_in_stages(case: Case):
    return "stages have no reference" if case.corpus.reference else None


def not_defined(case: Case):
    if case.corpus.is_huge:
        return "the definition compares huge texts for hours"
    if case.options.get("method") == "minhash":
        return "what minhash misses is not defined by texts alone"
    return None


def not_on_an_engine(case: Case):
    return "an engine does not choose a method" if case.options.get("method", "auto") == "auto" else None


def not_in_a_store(case: Case):
    options = {"keep": "first", "cluster": "star", "method": "auto"} | case.options
    if case.corpus.reference:
        return "a store has no reference"
    if options["method"] == "auto":
        return "a store has one method"
    if (options["keep"], options["cluster"], options.get("within")) != ("first", "star", None):
        return "a store keeps the first of a star"
    return None


def not_in_a_database(case: Case):
    return not_in_a_store(case) or postgres_server.why_not()


def not_served(case: Case):
    if importlib.util.find_spec("starlette") is None or importlib.util.find_spec("httpx") is None:
        return "a service needs the extras [server] and [client]"
    return not_in_a_store(case)


@dataclass(frozen=True)
class Runner:
    """A way to run a case.

    Attributes:
        run: gives the outcome; it works in a folder of its own that has the files.
        cannot: the reason why it cannot take a case; None if it can.
        leaves_open: columns of the audit in which it may differ, with the reason why: a function of the case.
    """

    run: Callable
    cannot: Callable = lambda _: None
    leaves_open: Callable = lambda _: ()


def of_links(case: Case):
    """Engines and stages know the pairs that are listed, and no other similarity (docs/stages.md)."""
    return ("similarity",) if case.options.get("cluster") == "components" else ()


def of_prints(case: Case):
    """Stages have no texts (docs/stages.md)."""
    return (*of_links(case), ONLY_DIGITS)


def in_memory(_: Case):
    """A reference that is no file has no name."""
    return ("reference",)


def without_links(case: Case):
    """Any link within the cluster is right."""
    return (*in_memory(case), "matched_id", "matched_similarity")


def without_texts(case: Case):
    """Stores keep none, unless they are asked to."""
    return (*without_links(case), ONLY_DIGITS)


def flagged(*flags):
    """`neardup dedup` with further flags."""
    return lambda case, files: batch(case, files, *flags)


RUNNERS = {
    "batch": Runner(batch),
    "one thread": Runner(flagged("--threads", 1)),
    "four threads": Runner(flagged("--threads", 4)),
    "little memory": Runner(flagged("--memory", "16M", "--threads", 3)),
    "audits by shard": Runner(audits_by_shard),
    "resumable": Runner(resumed),
    "library": Runner(library),
    "rows in memory": Runner(memory, of_both_kinds, in_memory),
    "table in memory": Runner(table, of_both_kinds, in_memory),
    "stages": Runner(stages, not_in_stages, of_prints),
    "stages at once": Runner(stages_at_once, not_in_stages, of_prints),
    "store": Runner(stored, not_in_a_store, without_texts),
    "store in PostgreSQL": Runner(shared, not_in_a_database, without_texts),
    "service": Runner(served, not_served, without_texts),
    "serial engine": Runner(serial_engine, not_on_an_engine, lambda case: (*without_links(case), *of_links(case))),
    "divided engine": Runner(divided_engine, not_on_an_engine, lambda case: (*without_links(case), *of_links(case))),
    "definition": Runner(definition, not_defined, without_links),
}
"""All runners; the first is what the others are compared with."""
QUICK = ("batch", "little memory", "rows in memory", "stages", "store", "service", "serial engine", "definition")
"""Those that `make test` compares."""
