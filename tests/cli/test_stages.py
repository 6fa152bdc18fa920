"""`fingerprint`, `pairs`, `clusters` and `apply` one after another, beside `dedup` at once; `tests/agreement` has what they share."""

import dataclasses
import gzip
import itertools
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import BREAD, BRIDGE, CHAIN, CLOCK, FERRY, FERRY_EDITED, FERRY_SHOUTED, ROWS, read_lines, write_lines

import neardup
from neardup.io.outputs.sealed_parquet import SEAL, SealedWriter
from neardup.survivors.records.cluster_file import read_cluster_file, write_cluster_file
from places import DATA

SHARDS = 4
COUNTS = (
    "rows",
    "documents",
    "rejected",
    "survivors",
    "duplicates",
    "exact_duplicates",
    "clusters",
    "short",
    "repeated_ids",
    "method",
    "max_distance",
    "min_similarity",
    "min_tokens",
)


def edited(rng, text):
    """The text with a word or two replaced, removed or repeated."""
    words = text.split(" ")
    for _ in range(rng.randint(1, 2)):
        place = rng.randrange(len(words)) if words else 0
        words[place : place + 1] = rng.choice([["changed"], [], words[place : place + 1] * 2])
    return " ".join(words)


def corpus(seed, documents=120):
    """Rows of several shards: equal and edited texts, short and empty ones, repeated ids, ids of both kinds."""
    rng = random.Random(seed)
    vocabulary = [f"w{i}" for i in range(400)]
    bases = [FERRY, FERRY_EDITED, FERRY_SHOUTED, BREAD, CLOCK, BRIDGE, *CHAIN]
    bases += [" ".join(rng.choices(vocabulary, k=rng.randint(12, 50))) for _ in range(8)]
    rows = []
    for number in range(documents):
        kind = rng.random()
        if kind < 0.1:
            text = rng.choice(["", "See page 2.", "see page 2", "!", "one two three four"])
        elif kind < 0.35:
            text = rng.choice(bases)
        elif kind < 0.8:
            text = edited(rng, rng.choice(bases))
        else:
            text = " ".join(rng.choices(vocabulary, k=rng.randint(5, 40)))
        name = rng.randrange(documents // 2) if rng.random() < 0.1 else number
        rows.append(
            {"id": f"d{name}", "text": text, "score": rng.randrange(9), "language": rng.choice(["en", "de", None])}
        )
    cuts = [0, *sorted(rng.sample(range(1, documents), SHARDS - 1)), documents]
    return [rows[first:last] for first, last in itertools.pairwise(cuts)]


def write_shards(shards):
    """The shards below `in`; their names in order."""
    names = []
    for number, rows in enumerate(shards):
        names.append(f"in/{'ab'[number % 2]}/{number}.jsonl")
        write_lines(names[-1], rows)
    return sorted(names)


def outputs(folder):
    """What lies in a folder, by relative name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def by_stages(run, names, *, near, decide, parts, distinct=False, more=()):
    """Run all stages: fingerprints by part, pairs within each part and between any two, clusters, apply by part; audit last."""
    prints = []
    for number, part in enumerate(parts):
        prints.append(f"prints/{number}.parquet")
        Path("prints").mkdir(exist_ok=True)
        Path("pairs").mkdir(exist_ok=True)
        run("fingerprint", *part, "-o", prints[-1], *more).ok()
    found = []
    flags = [*near, *(["--distinct"] if distinct else []), *(more if "--on-error" in more else [])]
    flags = [flag for flag in flags if flag != "--value"]
    for a, b in itertools.combinations_with_replacement(range(len(parts)), 2):
        found.append(f"pairs/{a}-{b}.parquet")
        other = [option for name in parts[b] for option in ("--against", name)] if a != b else []
        run("pairs", *parts[a], *other, "-o", found[-1], *flags).ok()
    named = [option for name in prints for option in ("--documents", name)]
    run("clusters", *found, *named, "-o", "clusters.parquet", *decide).ok()
    run("apply", "clusters.parquet", *names, "-o", "staged/", "--audit", "staged.jsonl").ok()


def halves(names):
    """Two parts of them."""
    return [names[: len(names) // 2], names[len(names) // 2 :]]


EXACT = ("--method", "exact", "--min-similarity", "0.6")


def as_staged(audit):
    """The lines of an audit of `dedup` as stages write them, which have no texts: they do not know what differs in digits only."""
    return [line | {"only_digits": False if line["exact"] else None} for line in read_lines(audit)]


def test_rejected_rows_are_no_documents_in_any_stage(run):
    shards = corpus("rejects")
    names = write_shards(shards)
    for name in names[1:3]:
        content = Path(name).read_bytes().splitlines(keepends=True)
        Path(name).write_bytes(b"".join([content[0], b'{"id": "bad", "text": null}\n', *content[1:], b"nonsense\n"]))
    skip = ("--on-error", "skip")
    run("dedup", *names, "-o", "whole/", "--audit", "whole.jsonl", *EXACT, *skip)
    by_stages(run, names, near=EXACT, decide=(), parts=halves(names), more=skip)
    assert outputs("staged") == outputs("whole")
    assert read_lines("staged.jsonl") == as_staged("whole.jsonl")
    once, staged = (json.loads(Path(name).read_bytes()) for name in ("whole.summary.json", "staged.summary.json"))
    assert {name: staged[name] for name in COUNTS} == {name: once[name] for name in COUNTS}
    assert once["rejected"] == 4
    rejects = b"".join(Path(f"prints/{part}.rejects.jsonl").read_bytes() for part in range(2))
    assert rejects == Path("whole.rejects.jsonl").read_bytes()


def with_broken_rows(kind):
    """A file of six documents and two rows that cannot be read; how it is read."""
    names = ["ferry", "shouted", "edited", "bread", "bread again", "clock"]
    texts = [FERRY, FERRY_SHOUTED, FERRY_EDITED, BREAD, BREAD, CLOCK]
    rows = [{"id": name, "text": text} for name, text in zip(names, texts, strict=True)]
    rows[2:2] = rows[5:5] = [{"id": "none", "text": None}]
    Path("in").mkdir()
    if kind == "csv":
        listed = [f'"{row["id"]}","{row["text"]}"' if row["text"] else "one field" for row in rows]
        Path("in/a.csv").write_text("\n".join(["id,text", *listed, ""]))
    elif kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), "in/a.parquet", row_group_size=3)
    elif kind == "jsonl.gz":
        Path("in/a.jsonl.gz").write_bytes(gzip.compress(b"".join(map(_line, rows))))
    else:
        contents = [row["text"].encode() if row["text"] else b"\x80" for row in rows]
        if kind == "lines":
            Path("in/a.log").write_bytes(b"".join(content + b"\n" for content in contents))
            return "in/a.log", ("--lines",)
        for number, content in enumerate(contents):
            Path(f"in/{number}.txt").write_bytes(content)
        return "in", ()
    return f"in/a.{kind}", ()


def _line(row):
    return json.dumps(row).encode() + b"\n" if row["text"] else b"{no JSON\n"


@pytest.mark.parametrize("kind", ["jsonl.gz", "csv", "parquet", "lines", "txt"])
def test_what_was_fingerprinted_without_the_rows_that_cannot_be_read_is_applied_verified_and_reported(run, kind):
    name, reading = with_broken_rows(kind)
    skip = ("--on-error", "skip", *reading)
    out = "whole/" if kind == "txt" else f"whole{''.join(Path(name).suffixes)}"
    staged = out.replace("whole", "staged")
    assert run("dedup", name, "-o", out, "--audit", "whole.duplicates.jsonl", *skip).code == 0
    for arguments in (
        ("fingerprint", name, "-o", "f.parquet", *skip),
        ("pairs", name, "-o", "p.parquet", *skip),
        ("clusters", "p.parquet", "--documents", "f.parquet", "-o", "c.parquet"),
        ("apply", "c.parquet", name, "-o", staged, "--audit", "staged.duplicates.jsonl"),
    ):
        done = run(*arguments).ok()
    assert "skipped  2 rows could not be read: not written" in done.err
    once, again = (outputs(each) if kind == "txt" else content(each) for each in (out, staged))
    assert (again, len(once)) == (once, 3)
    assert read_lines("staged.duplicates.jsonl") == as_staged("whole.duplicates.jsonl")
    assert Path("f.rejects.jsonl").read_bytes() == Path("whole.rejects.jsonl").read_bytes()
    verified = run("verify", staged, "--audit", "staged.duplicates.jsonl")
    assert "proven: 6 documents, 3 survivors, 3 removed" in verified.out.decode(), verified.err
    first = read_lines("whole.duplicates.jsonl")[0]["id"]
    shown = [run("explain", "--diff", f"{each}.duplicates.jsonl", first).out for each in ("whole", "staged")]
    assert (shown[0], b" was removed" in shown[0]) == (shown[1], True)
    if kind not in ("lines", "txt"):  # plain text has no columns, so none can be added
        assert run("dedup", name, "-o", f"all-{out}", "--annotate", *skip).code == 0
        assert run("apply", "c.parquet", name, "-o", f"all-{staged}", "--annotate").code == 0
        assert content(f"all-{staged}") == content(f"all-{out}")


def content(name):
    """The rows of a file, or the lines."""
    if name.endswith(".parquet"):
        return pq.read_table(name).to_pylist()
    data = Path(name).read_bytes()
    return (gzip.decompress(data) if name.endswith(".gz") else data).splitlines()[name.endswith(".csv") :]


@pytest.mark.parametrize(
    "decide",
    [
        ("--keep", "max:score"),
        ("--keep", "min:score", "--within", "language"),
        ("--within", "language", "--keep", "last"),
        ("--prefer-source", "in/b,in/a/2.jsonl", "--keep", "longest"),
    ],
)
@pytest.mark.parametrize("distinct", [False, True])
def test_stages_choose_survivors_as_dedup_does(run, decide, distinct):
    names = write_shards(corpus("choice"))
    for near in (("--method", "exact", "--min-similarity", "0.5"), ("--method", "simhash")):
        run("dedup", *names, "-o", "whole/", "--audit", "whole.jsonl", *near, *decide, "--overwrite")
        stored = ("--value", "score", "--value", "language", "--overwrite")
        run("fingerprint", *names, "-o", "prints.parquet", *stored).ok()
        run("pairs", *names, "-o", "pairs.parquet", *near, "--overwrite", *(["--distinct"] if distinct else []))
        run(
            "clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "c.parquet", *decide, "--overwrite"
        ).ok()
        assert run("apply", "c.parquet", *names, "-o", "staged/", "--audit", "staged.jsonl", "--overwrite").code == 0
        assert outputs("staged") == outputs("whole")
        assert read_lines("staged.jsonl") == as_staged("whole.jsonl")


def test_annotated_shards_are_those_of_dedup(run):
    names = write_shards(corpus("annotate"))
    run("dedup", *names, "-o", "whole.jsonl", "--annotate", *EXACT)
    by_stages(run, names, near=EXACT, decide=(), parts=[names])
    assert run("apply", "clusters.parquet", *names, "-o", "one.jsonl", "--annotate").code == 0
    assert Path("one.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    whole = run("dedup", *names, "-o", "-", *EXACT).out
    assert run("apply", "clusters.parquet", *names, "-o", "-").out == whole


@pytest.mark.parametrize("least", ["0.6", "0.7", "0.85", "1"])
def test_a_higher_threshold_is_taken_from_existing_pairs(run, least):
    names = write_shards(corpus("rethreshold"))
    run("dedup", *names, "-o", "whole/", "--audit", "whole.jsonl", "--method", "exact", "--min-similarity", least)
    by_stages(run, names, near=EXACT, decide=("--rethreshold", least), parts=halves(names))
    assert outputs("staged") == outputs("whole")
    assert read_lines("staged.jsonl") == as_staged("whole.jsonl")


def test_pairs_of_fingerprint_files_compose_as_by_distance_alone(run):
    names = write_shards(corpus("prints"))
    run("dedup", *names, "-o", "whole/", "--audit", "whole.jsonl", "--min-similarity", "0", "--max-distance", "30")
    run("fingerprint", *names, "-o", "prints/")
    prints = [f"prints/{Path(name).stem}.parquet" for name in names]
    pairs = []
    for a, b in itertools.combinations_with_replacement(range(SHARDS), 2):
        other = ["--against", prints[b]] if a != b else []
        pairs.append(f"{a}{b}.parquet")
        assert run("pairs", prints[a], *other, "-o", pairs[-1], "--max-distance", "30").code == 0
    named = [option for name in prints for option in ("--documents", name)]
    assert run("clusters", *pairs, *named, "-o", "c.parquet").code == 0
    run("apply", "c.parquet", *names, "-o", "staged/", "--audit", "staged.jsonl")
    assert outputs("staged") == outputs("whole")
    assert read_lines("staged.jsonl") == as_staged("whole.jsonl")


@pytest.fixture
def staged(run):
    """Two small shards with their fingerprints and pairs."""
    write_lines("in/a.jsonl", ROWS)
    write_lines("in/b.jsonl", [{"id": "again", "text": FERRY}, {"id": "clock", "text": CLOCK}])
    for arguments in (
        ("fingerprint", "in", "-o", "prints/"),
        ("pairs", "in/a.jsonl", "-o", "aa.parquet", "--method", "exact"),
        ("pairs", "in/b.jsonl", "-o", "bb.jsonl", "--method", "exact"),
        ("pairs", "in/a.jsonl", "--against", "in/b.jsonl", "-o", "ab.jsonl", "--method", "exact"),
        ("pairs", "in/a.jsonl", "--against", "in/b.jsonl", "-o", "minhash.jsonl", "--method", "minhash"),
        (
            "pairs",
            "in/a.jsonl",
            "--against",
            "in/b.jsonl",
            "-o",
            "low.jsonl",
            "--method",
            "exact",
            "--min-similarity",
            "0.5",
        ),
        ("pairs", "prints/a.parquet", "-o", "distances.jsonl"),
        ("fingerprint", "in", "-o", "book.parquet", "--recipe", "textbook"),
        ("clusters", "aa.parquet", "bb.jsonl", "ab.jsonl", "--documents", "prints", "-o", "c.parquet"),
    ):
        run(*arguments).ok()


ALL = ("aa.parquet", "ab.jsonl", "bb.jsonl")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*ALL, "-o", "out.jsonl"), "out.jsonl: clusters are Parquet. Give a name that ends in .parquet."),
        ((*ALL, "-o", "c.parquet"), "c.parquet exists already."),
        ((*ALL, "-o", "aa.parquet", "--overwrite"), "aa.parquet is an input, and no run"),
        (("-",), "-: pairs and fingerprints are read from files."),
        (("prints/a.parquet", *ALL), "prints/a.parquet holds fingerprints, not pairs. Give it as --documents"),
        (("in/a.jsonl",), "in/a.jsonl: there is no in/a.jsonl.summary.json that says what made these pairs."),
        (
            ("aa.parquet",),
            "in/a.jsonl was not compared with in/b.jsonl\nin/b.jsonl was not compared with itself\n"
            "Name more files of pairs, or pass --partial to decide without them.",
        ),
        (
            ("aa.parquet", "bb.jsonl", "minhash.jsonl"),
            "aa.parquet was made with `method='exact'`, minhash.jsonl with 'minhash': they do not belong together.",
        ),
        (("aa.parquet", "bb.jsonl", "low.jsonl"), "low.jsonl was made with `min_similarity=0.5`, aa.parquet with 0.8."),
        (
            (*ALL, "--rethreshold", "0.7"),
            "--rethreshold 0.7: aa.parquet was made with `min_similarity=0.8`, and pairs below",
        ),
        ((*ALL, "--rethreshold", "2"), "--rethreshold 2.0: give a number from 0 to 1."),
        (("distances.jsonl", "--partial", "--rethreshold", "0.9"), "distances.jsonl was made by distance alone"),
        (
            (*ALL, "--keep", "max:score"),
            "prints/a.parquet has no column 'score'. Make it anew with `neardup fingerprint --value",
        ),
        ((*ALL, "--prefer-source", "out"), "--prefer-source out: no shard is of this source."),
        ((*ALL, "--keep", "best"), "--keep best: give one of first"),
    ],
)
def test_pairs_that_do_not_belong_together_are_refused(run, staged, arguments, message):
    out = [] if "-o" in arguments else ["-o", "out.parquet"]
    done = run("clusters", *arguments, "--documents", "prints", *out)
    assert (done.code, done.out) == (2, b"")
    assert message in done.err
    assert not Path("out.parquet").exists()


def test_fingerprints_that_do_not_belong_to_the_pairs_are_refused(run, staged):
    for documents, message in (
        ("prints/a.parquet", "ab.jsonl has pairs of in/b.jsonl, which no fingerprint file is about."),
        ("book.parquet", "that of book.parquet: "),
    ):
        run("clusters", *ALL, "--documents", documents, "-o", "out.parquet").refused(message)
    write_lines("in/b.jsonl", [{"id": "again", "text": FERRY}])
    run("fingerprint", "in", "-o", "prints/", "--overwrite")
    run("clusters", *ALL, "--documents", "prints", "-o", "out.parquet").refused("in/b.jsonl had 2 rows in")


def test_damaged_pairs_are_told(run, staged):
    content = Path("ab.jsonl").read_bytes()
    for damaged, message in (
        (content[: content.rindex(b"{")], "ab.jsonl has 2 pairs, its summary says 3: one of them is not whole."),
        (content.replace(b'"left_row": 0', b'"left_row": 99'), "ab.jsonl has pairs of rows that are no documents."),
        (
            content.replace(b"in/b.jsonl", b"in/c.jsonl"),
            "ab.jsonl has pairs of in/c.jsonl, of which its summary says nothing.",
        ),
        (content[:-9] + b"\n", "ab.jsonl cannot be read as pairs"),
    ):
        Path("ab.jsonl").write_bytes(damaged)
        run("clusters", *ALL, "--documents", "prints", "-o", "out.parquet").refused(message, code=1)
    Path("ab.jsonl.summary.json").write_text("{}")
    run("clusters", *ALL, "--documents", "prints", "-o", "out.parquet").refused(
        "ab.jsonl.summary.json cannot be used", code=1
    )


def test_a_partial_comparison_is_allowed_by_name(run, staged):
    run("clusters", "aa.parquet", "--documents", "prints", "-o", "out.parquet", "--partial").ok(
        "partial: in/a.jsonl was not compared with in/b.jsonl; in/b.jsonl was not compared with itself"
    )
    assert pq.read_table("out.parquet").column("id").to_pylist() == ["ferry", "edited", "shouted", "again"]


def test_apply_refuses_what_was_not_clustered(run, staged):
    write_lines("in/c.jsonl", ROWS)
    for arguments, message in (
        (("in/c.jsonl",), "in/c.jsonl is no shard of c.parquet, which has in/a.jsonl, in/b.jsonl."),
        (("in/a.jsonl", "--text", "body"), "--text body: c.parquet records how its shards were read when they"),
    ):
        run("apply", "c.parquet", *arguments, "-o", "out.jsonl").refused(message)
    assert run("apply", "missing.parquet", "in/a.jsonl", "-o", "out.jsonl").code == 2
    run("apply", "prints/a.parquet", "in/a.jsonl", "-o", "out.jsonl").refused(
        "it is no cluster file of format 1. Make it with `neardup clusters`.", code=1
    )
    write_lines("in/a.jsonl", ROWS[:2])
    run("apply", "c.parquet", "in/a.jsonl", "-o", "out.jsonl").refused(
        "when it was fingerprinted. Begin anew with `neardup fingerprint`."
    )
    assert not Path("out.jsonl").exists()


@pytest.mark.parametrize("given", ["in/a.jsonl", "in", "missing"])
def test_apply_tells_that_the_cluster_file_comes_first(run, staged, given):
    run("apply", given, "c.parquet", "-o", "out.jsonl").refused(
        f"{given} is no cluster file, but c.parquet is one: it comes first, then the shards."
    )


@pytest.mark.parametrize("kind", ["jsonl", "csv", "log"])
@pytest.mark.parametrize("annotate", [False, True])
def test_apply_refuses_a_shard_that_has_as_many_bytes_as_before_but_fewer_rows(run, kind, annotate):
    texts = [FERRY, BREAD, FERRY, CLOCK]
    head, row = {
        "jsonl": ("", '{{"id": {0}, "text": "{1}"}}\n'),
        "csv": ("id,text\n", '{0},"{1}"\n'),
        "log": ("", "{1}\n"),
    }[kind]
    shard, lines = f"in.{kind}", ("--lines",) if kind == "log" else ()
    annotated = ("--annotate",) if annotate and kind != "log" else ()
    Path(shard).write_text(head + "".join(row.format(*each) for each in enumerate(texts)))
    for arguments in (
        ("fingerprint", shard, "-o", "prints.parquet", *lines),
        ("pairs", shard, "-o", "pairs.parquet", "--method", "exact", *lines),
        ("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "c.parquet"),
    ):
        assert run(*arguments).code == 0
    size = Path(shard).stat().st_size
    fewer = head + "".join(row.format(*each) for each in enumerate(texts[:2]))
    longer = size - len(fewer)
    Path(shard).write_text(fewer.replace("The night", "The night" + " " * longer))
    assert Path(shard).stat().st_size == size
    run("apply", "c.parquet", shard, "-o", f"out.{kind}", *lines, *annotated).refused(
        f"{shard} is not the file that was fingerprinted"
    )
    assert not Path(f"out.{kind}").exists()


def test_the_cluster_file_is_not_replaced_by_what_is_written_from_it(run):
    pq.write_table(pa.Table.from_pylist(ROWS), "in.parquet")
    run("fingerprint", "in.parquet", "-o", "prints.parquet")
    run("pairs", "in.parquet", "-o", "pairs.parquet")
    run("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "c.parquet")
    before = Path("c.parquet").read_bytes()
    run("apply", "c.parquet", "in.parquet", "-o", "c.parquet", "--overwrite").refused(
        "c.parquet is the cluster file, and no run replaces what it reads."
    )
    assert Path("c.parquet").read_bytes() == before


def test_options_of_another_stage_are_refused():
    with pytest.raises(neardup.OptionError, match=r"`keep`: pair_files\(\) has no such option; it decides which of"):
        neardup.pair_files("in.jsonl", "pairs.jsonl", keep="last")
    with pytest.raises(neardup.OptionError, match=r"`method`: cluster_files\(\) has no such option; it decides which"):
        neardup.cluster_files("pairs.jsonl", "c.parquet", documents="prints.parquet", method="exact")


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the evaluation corpora are not in {DATA}; set NEARDUP_DATA")
@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_stages_give_what_dedup_gives_on_real_texts(run, method):
    rows = gzip.decompress((DATA / "en_spdx_licenses/docs.jsonl.gz").read_bytes()).splitlines(keepends=True)
    names = []
    for shard in range(3):
        names.append(f"{shard}.jsonl")
        Path(names[-1]).write_bytes(b"".join(rows[shard::3]))
    near = ("--method", method)
    run("dedup", *names, "-o", "whole/", "--audit", "whole.jsonl", *near, "--keep", "longest")
    parts = [[name] for name in names]
    by_stages(run, names, near=near, decide=("--keep", "longest"), parts=parts, distinct=True)
    assert outputs("staged") == outputs("whole")
    assert read_lines("staged.jsonl") == as_staged("whole.jsonl")
    assert len(read_lines("whole.jsonl")) > 20


def write_sealed(table, metadata, path):
    """A file of our own with any metadata, as a version with other rules would write it."""
    writer = SealedWriter(path, table.schema)
    for batch in table.to_batches():
        writer.write(batch)
    writer.close({name.decode(): text.decode() for name, text in metadata.items() if name != SEAL.encode()})


@pytest.mark.parametrize(
    "command",
    [
        ["pairs", "a.parquet", "-o", "p.jsonl"],
        ["dedup", "a.jsonl", "-o", "o.jsonl", "--against", "a.parquet", "--min-similarity", "0"],
    ],
)
def test_a_digest_that_is_not_of_the_recipe_is_told_with_both(run, command):
    write_lines("a.jsonl", ROWS)
    assert run("fingerprint", "a.jsonl", "-o", "a.parquet").code == 0
    table = pq.read_table("a.parquet")
    metadata = {
        name: value for name, value in pq.read_metadata("a.parquet").metadata.items() if name.startswith(b"neardup")
    }
    genuine = metadata[b"neardup.digest"].decode()
    forged = metadata | {b"neardup.digest": b"0123456789abcdef"}
    write_sealed(table, forged, "a.parquet")
    done = run(*command)
    said = " ".join(done.err.split())
    assert done.code == 2
    assert (
        "a.parquet says that the recipe 0123456789abcdef made its fingerprints, but the recipe that it holds is "
        + genuine
        in said
    )
    changed = json.loads(metadata[b"neardup.recipe"]) | {"bits": 64}
    other = metadata | {b"neardup.recipe": json.dumps(changed).encode()}
    write_sealed(table, other, "a.parquet")
    assert f"says that the recipe {genuine} made its fingerprints" in " ".join(run(*command).err.split())


def test_of_fingerprints_by_another_recipe_it_is_said_what_differs(run):
    write_lines("a.jsonl", ROWS)
    Path("small.toml").write_text("bits = 64\nmax_distance = 10\n")
    assert run("fingerprint", "a.jsonl", "-o", "a.parquet", "--recipe", "small.toml").code == 0
    done = run(
        "dedup", "a.jsonl", "-o", "o.jsonl", "--against", "a.parquet", "--min-similarity", "0", "--recipe", "default"
    ).refused()
    assert "which is asked for: bits: 64 there, 128 here" in " ".join(done.err.split())


def test_a_shard_that_changed_and_kept_its_size_is_refused_by_name(run, staged):
    Path("in/a.jsonl").write_bytes(Path("in/a.jsonl").read_bytes())  # another time of change is no change
    assert run("apply", "c.parquet", "in/a.jsonl", "in/b.jsonl", "-o", "copied/").code == 0
    before = Path("in/b.jsonl").read_bytes()
    Path("in/b.jsonl").write_bytes(before.replace(b"again", b"other"))
    done = run("apply", "c.parquet", "in/a.jsonl", "in/b.jsonl", "-o", "out/")
    said = " ".join(done.err.split())
    assert (done.code, Path("out").exists()) == (2, False)
    assert (
        "in/b.jsonl is not the file that was fingerprinted: it has as many bytes, but others. Begin anew with" in said
    )
    assert "in/a.jsonl" not in said
    assert run("pairs", "in/b.jsonl", "-o", "new.jsonl", "--method", "exact").code == 0
    done = run(
        "clusters", "aa.parquet", "new.jsonl", "ab.jsonl", "--documents", "prints", "-o", "new.parquet"
    ).refused()
    assert "in/b.jsonl was another file when new.jsonl was made than when its fingerprints were" in " ".join(
        done.err.split()
    )


READINGS = {
    "elements": ("s.jsonl", ("--elements", "tags")),
    "text and id": ("s.csv", ("--text", "body", "--id", "key")),
    "html": ("pages.jsonl", ("--html", "whole", "--text", "page")),
}


def staged_by(run, shard, reading, *, paired=None):
    """All stages of one shard; how it is read is given to `fingerprint` and `pairs` only."""
    texts = [FERRY, FERRY, FERRY_EDITED, CLOCK]
    Path("s.csv").write_text("key,body\n" + "".join(f'r{row},"{text}"\n' for row, text in enumerate(texts)))
    write_lines("s.jsonl", [{"id": f"r{row}", "tags": text.split()} for row, text in enumerate(texts)])
    write_lines("pages.jsonl", [{"id": f"r{row}", "page": f"<p>{text}</p>"} for row, text in enumerate(texts)])
    for arguments in (
        ("pairs", shard, "-o", "p.jsonl", *(reading if paired is None else paired)),
        ("fingerprint", shard, "-o", "f.parquet", *reading),
        ("clusters", "p.jsonl", "--documents", "f.parquet", "-o", "c.parquet"),
    ):
        done = run(*arguments)
    return done


@pytest.mark.parametrize("kind", READINGS)
def test_apply_records_how_the_shards_were_read(run, kind):
    shard, reading = READINGS[kind]
    out = "out" + Path(shard).suffix
    assert staged_by(run, shard, reading).code == 0
    done = run("apply", "c.parquet", shard, "-o", out)
    assert (done.code, "does not say" in done.err) == (0, False)
    verified = run("verify", out).ok()
    named = "jaccard of the elements" if kind == "elements" else "jaccard"
    assert f"survivors do not match at {named} 0.8" in verified.out.decode()
    assert '"r1" (row 1) was removed' in run("explain", "out.duplicates.jsonl", "r1").out.decode()
    explained = run("explain", "out.duplicates.jsonl", "r0").out.decode()
    assert '"r1" (row 1): distance 0, similarity 1.0000' in explained
    assert "it shows no texts" not in run("report", "out.duplicates.jsonl", "-o", "r.html").out.decode()
    files = json.loads(Path("out.summary.json").read_text())["files"]
    flags = dict(zip(reading[::2], reading[1::2], strict=True))
    assert {f"--{name}": files[name] for name in ("elements", "id", "html")} | {"--text": files["text"][0]} == {
        "--elements": None, "--id": None, "--html": None, "--text": "text"
    } | flags  # fmt: skip
    run("apply", "c.parquet", shard, "-o", out, "--overwrite", *reading).ok()
    run("apply", "c.parquet", shard, "-o", out, "--overwrite", "--text", "id").refused(
        "--text id: c.parquet records how its shards were read", " ".join(reading[:2])
    )


def test_clusters_of_an_older_version_are_applied_with_what_is_given(run):
    shard, reading = READINGS["text and id"]
    staged_by(run, shard, reading)
    file = read_cluster_file("c.parquet")
    shards = tuple(dataclasses.replace(each, reading=None) for each in file.shards)
    write_cluster_file(Path("c.parquet"), dataclasses.replace(file, shards=shards))
    run("apply", "c.parquet", shard, "-o", "out.csv").ok("c.parquet does not say how the shards were read")
    assert run("verify", "out.csv").code == 2
    done = run("apply", "c.parquet", shard, "-o", "out.csv", "--overwrite", *reading)
    assert (done.code, "does not say" in done.err) == (0, False)
    assert run("verify", "out.csv").code == 0


def test_pairs_and_fingerprints_of_other_columns_do_not_belong_together(run):
    done = staged_by(run, "s.csv", ("--text", "body", "--id", "key"), paired=("--text", "key"))
    assert done.code == 2
    done.said("s.csv was read with `text='key'` when p.jsonl was made, but with `text='body'` when its fingerprints")
    assert (
        staged_by(run, "s.csv", ("--text", "body"), paired=("--text", "body", "--id", "key")).code == 2
    )  # outputs exist


def test_shards_that_were_read_differently_are_applied_apart(run):
    Path("out").mkdir()
    write_lines("a.jsonl", [{"id": "a", "text": FERRY}, {"id": "b", "text": CLOCK}])
    write_lines("b.jsonl", [{"id": "c", "body": FERRY}])
    for arguments in (
        ("fingerprint", "a.jsonl", "-o", "fa.parquet"),
        ("fingerprint", "b.jsonl", "-o", "fb.parquet", "--text", "body"),
        ("pairs", "fa.parquet", "--against", "fb.parquet", "-o", "p.jsonl", "--max-distance", "3"),
        (
            "clusters",
            "p.jsonl",
            "--partial",
            "--documents",
            "fa.parquet",
            "--documents",
            "fb.parquet",
            "-o",
            "c.parquet",
        ),
        ("apply", "c.parquet", "a.jsonl", "-o", "out/a.jsonl"),
        ("apply", "c.parquet", "b.jsonl", "-o", "out/b.jsonl"),
    ):
        run(*arguments).ok()
    assert (read_lines("out/a.jsonl"), read_lines("out/b.jsonl")) == (read_lines("a.jsonl"), [])
    told = "The shards were not read alike when they were fingerprinted: `text` of a.jsonl and of b.jsonl differ."
    run("apply", "c.parquet", "a.jsonl", "b.jsonl", "-o", "both/").refused(told.replace("`text`", "--text"))
    for command in (("verify", "out/", "--audit", "out"), ("explain", "out", "a")):
        run(*command).refused("were not read alike")
