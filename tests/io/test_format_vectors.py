"""Files of every version of every format: the package reads them, and so does a reader that has only the pages."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xxhash

import naive_stage_files as naive
import neardup as nd
from guards import not_empty
from naive_store_folder import read_record
from neardup.fingerprints.files.fingerprint_file import read_fingerprint_file
from neardup.io.ids import plain_ids
from neardup.io.outputs.sealed_parquet import SealedWriter
from neardup.io.storage.places import place_of
from neardup.matching.pair_file import read_pair_summary, read_pairs
from neardup.recipe.files.frequency_file import describe_frequency_file, frequency_parts
from neardup.survivors.records.cluster_file import read_cluster_file
from places import GOLDEN, ROOT, TESTS

VECTORS = GOLDEN / "formats"


def maker():
    spec = importlib.util.spec_from_file_location("make_format_vectors", ROOT / "tools/make_format_vectors.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = maker()
CHANGED = """

What is written in the format "{name}" is no longer what the vectors of its version have: {file}.
Other programs, and other versions of neardup, read these files. If you meant to change the format: raise its version, keep the old
vectors, add new ones with `python tools/make_format_vectors.py`, mend the page in docs/formats/, and say in CHANGELOG.md what changed."""


def vectors(name, pattern):
    """The files of every version of a format, each with what is expected of it."""
    found = sorted((VECTORS / name).glob(f"*/{pattern}"))
    return [pytest.param(path, id=f"{path.parent.name} {path.name}") for path in found]


def expected_of(path):
    return json.loads((path.parent / "expected.json").read_text(encoding="utf-8"))


def in_order(pairs):
    return sorted(pairs, key=lambda pair: json.dumps(pair, sort_keys=True))


# --------------------------------------------------------------------------------------------------- what is written now


ADDED = (
    "short_rule",
    "keep_as",
    "only_digits",
    "digits_unknown",
    "skipped",
    "skipped_since",
    "temporary_limit_bytes",
    "temp_limit",
    "matching_reference",
)
"""What is written besides since the vectors were made, and readers may do without: so the vectors are old files, too."""
ADDED_TABLES = ("skipped", "skipped_contents", "orphans")
ADDED_FILES = ("skipped.parquet", "orphans.parquet")


def without_costs(values):
    """What a summary says of the machine and of the run's costs only by name."""
    known = {name: value for name, value in values.items() if name not in ADDED}
    known["options"] = {name: value for name, value in known["options"].items() if name not in ADDED}
    return {name: None if name in MAKER.VOLATILE else value for name, value in known.items()}


def content_of(path):
    """The bytes of a file, or what a Parquet file or a record holds: its bytes depend on the version of Arrow, or of SQLite."""
    if path.name == "record.sqlite":
        tables, facts = read_record(path)
        told = ("latest", "writer", *ADDED)  # by whom, and when: facts of a run
        tables["facts"] = [row for row in tables["facts"] if row[0] not in told]
        kept = {name: rows for name, rows in tables.items() if name not in ADDED_TABLES}
        return kept, {name: value for name, value in facts.items() if name not in told}
    if path.name == "lock":  # which host and process has written, since the vectors were made
        return b""
    if path.name == "store.json":
        said = json.loads(path.read_bytes())
        said["seals"] = {name: seal for name, seal in said["seals"].items() if name not in ADDED_FILES}
        return {name: value for name, value in said.items() if name not in (*ADDED, "checksum")}
    if path.name == "index.json":
        return {
            name: value for name, value in json.loads(path.read_bytes()).items() if name not in (*ADDED, "checksum")
        }
    if path.suffix != ".parquet":
        return path.read_bytes()
    if path.name in ("documents.parquet", "removed.parquet"):
        rows = pq.read_table(path)
        return rows.schema.to_string(), rows.to_pylist()
    if path.name == "counts.parquet":
        return naive.read_frequencies(path)
    file = naive.SealedFile(path)
    for name in ADDED:
        file.metadata.pop(f"neardup.{name}", None)
    if "neardup.clusters" in file.metadata:
        said = json.loads(file.metadata["neardup.clusters"])
        file.metadata["neardup.clusters"] = said | {"summary": without_costs(said["summary"])}
    return file.schema, file.metadata, file.groups, file.rows


@pytest.mark.parametrize("name", MAKER.FORMATS)
def test_what_is_written_is_what_the_vectors_of_its_version_have(name, tmp_path):
    known, made = VECTORS / name / MAKER.FORMATS[name][0], tmp_path / "made"
    MAKER.write_vectors(name, made)
    assert known.is_dir(), CHANGED.format(name=name, file=f"version {known.name} has none")
    files = [
        {path.relative_to(folder) for folder in (base,) for path in base.rglob("*") if path.name not in ADDED_FILES}
        for base in (known, made)
    ]
    assert files[0] == files[1], CHANGED.format(name=name, file="there are other files")
    for file in sorted(files[0]):
        if (known / file).is_file():
            assert content_of(made / file) == content_of(known / file), CHANGED.format(name=name, file=file)


def test_the_overview_has_the_version_of_every_format():
    page = (ROOT / "docs/formats/index.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")] for line in page.splitlines() if line.startswith("| ")]
    versions = {
        row[3].partition("](")[2].removesuffix(")").removesuffix(".md"): re.findall(r"\d+", row[4])
        for row in rows
        if len(row) == 8
    }
    pages = {"index": "index-folder", "export": "store.md#the-export"}
    for name, (version, _) in not_empty(MAKER.FORMATS.items()):
        assert versions[pages.get(name, name)] == version.split("-"), name
        assert f"`{name}/{version}/`" in page


def test_the_page_of_files_has_every_field_of_the_summary(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"id": 1, "text": "one"}\n')
    page = (ROOT / "docs/files.md").read_text(encoding="utf-8")
    nd.deduplicate_files(tmp_path / "in.jsonl", tmp_path / "out.jsonl", progress=None)
    for name in not_empty(json.loads((tmp_path / "out.summary.json").read_bytes())):
        assert f"`{name}`" in page, name


def test_the_vectors_name_no_machine():
    for path in not_empty(VECTORS.rglob("*")):
        if path.is_file():
            assert not re.search(rb"/(home|Users|work|tmp|root)/", path.read_bytes()), path


# ------------------------------------------------------------------------------------------- a reader that has only the pages


@pytest.mark.parametrize("name", ["naive_index_folder", "naive_stage_files", "naive_store_folder"])
def test_the_readers_that_have_only_the_pages_import_nothing_of_the_package(name):
    source = (TESTS / f"{name}.py").read_text(encoding="utf-8")
    assert not re.search(r"neardup", "\n".join(re.findall(r"^(?:import|from) .*", source, re.MULTILINE)))


@pytest.mark.parametrize("path", vectors("fingerprints", "bits-*.parquet"))
def test_the_page_is_enough_to_read_a_fingerprint_file(path):
    rows, recipe, _, distance = naive.read_fingerprints(path)
    assert rows == expected_of(path)[path.name]
    assert distance == str(recipe["bits"] // 7)
    [digest] = {row["digest"] for row in rows if row["length"] == len("Good morning")}
    assert digest == xxhash.xxh3_128_hexdigest(b"good morning")


def test_the_page_is_enough_to_read_fingerprints_of_vectors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vectors = pa.table({"id": [1, 2, 3], "v": [[1.0, -2.0, 0.5], [0.0, 0.0, 0.0], None]})
    pq.write_table(vectors, "vectors.parquet")
    nd.fingerprint_vector_files("vectors.parquet", "prints.parquet", vector="v", value=["id"], on_error="skip")
    rows, recipe, _, distance = naive.read_fingerprints(tmp_path / "prints.parquet")
    assert sorted(recipe) == ["bits", "dimension", "kind", "method", "seed", "version"]
    assert (recipe["kind"], distance) == ("vectors", None)
    assert [(row["short"], row["tokens"], row["length"]) for row in rows[:2]] == [(False, 3, 3), (True, 0, 3)]
    assert [row["tokens"] for row in rows] == [3, 0, -1]
    assert rows[2]["value:id"] is None


def test_the_page_is_enough_to_read_fingerprints_of_another_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("given.csv").write_text("id,hash\na,ff\nb,ff\nc,xyz\n")
    given = {"fingerprint": "hash", "digits": "hexadecimal", "bits": 64, "program": "ours", "max_distance": 3}
    nd.import_fingerprint_files("given.csv", "prints.parquet", on_error="skip", **given)
    rows, recipe, _, distance = naive.read_fingerprints(tmp_path / "prints.parquet")
    assert (recipe, distance) == ({"kind": "another program", "program": "ours", "bits": 64}, "3")
    assert [row["fingerprint"] for row in rows[:2]] == ["00000000000000ff"] * 2
    assert [(row["short"], row["length"]) for row in rows[:2]] == [(False, -1)] * 2
    assert rows[0]["digest"] != rows[1]["digest"]
    assert rows[2]["tokens"] == -1


@pytest.mark.parametrize("path", vectors("fingerprints", "digits.*"))
def test_the_page_is_enough_to_read_fingerprints_for_other_programs(path):
    ending, expected = path.suffix.removeprefix("."), expected_of(path)["digits"]
    found = naive.read_digits(path, MAKER.DIGITS[ending], 100)
    ids = {"jsonl": [id_ for id_, _ in expected], "txt": [None] * len(expected)}
    assert [id_ for id_, _ in found] == ids.get(ending, [str(id_) for id_, _ in expected])
    assert [number for _, number in found] == [number for _, number in expected]


@pytest.mark.parametrize("path", [*vectors("pairs", "pairs.jsonl"), *vectors("pairs", "pairs.parquet")])
def test_the_page_is_enough_to_read_pairs(path):
    pairs, summary = naive.read_pairs(path)
    assert in_order(pairs) == in_order(expected_of(path)[path.name])
    assert (summary["right"] is None) == (path.suffix == ".jsonl")


@pytest.mark.parametrize("path", vectors("clusters", "clusters.parquet"))
def test_the_page_is_enough_to_read_clusters(path):
    rows, said = naive.read_clusters(path)
    assert rows == expected_of(path)[path.name]
    assert (said["rejected"], said["short"]) == ([11], [1, 1])


@pytest.mark.parametrize("path", vectors("frequencies", "counts.parquet"))
def test_the_page_is_enough_to_read_document_frequencies(path):
    expected = expected_of(path)
    features = {naive.feature_hash(tokens): count for tokens, count in expected["features"]}
    assert naive.read_frequencies(path) == (features, expected["documents"])


# ------------------------------------------------------------------------------------------------------------ the package


@pytest.mark.parametrize("path", vectors("fingerprints", "bits-*.parquet"))
def test_the_package_reads_fingerprint_files_of_every_version(path):
    file, expected = read_fingerprint_file(path), expected_of(path)[path.name]
    read = file.documents
    digits = ["".join(f"{word:016x}" for word in row) for row in read.fingerprints.tolist()]
    assert digits == [row["fingerprint"] for row in expected]
    assert ["".join(f"{word:016x}" for word in row) for row in read.digests.tolist()] == [
        row["digest"] for row in expected
    ]
    assert read.tokens.tolist() == [row["tokens"] for row in expected]
    assert read.lengths.tolist() == [row["length"] for row in expected]
    assert file.short.tolist() == [row["short"] for row in expected]
    assert read.ids.to_pylist() == read.values["id"].to_pylist() == [row["value:id"] for row in expected]
    assert file.max_distance == file.recipe["bits"] // 7


@pytest.mark.parametrize("path", vectors("fingerprints", "digits.*"))
def test_the_package_reads_fingerprints_for_other_programs(path, tmp_path):
    column = {"lines": True} if path.suffix == ".txt" else {"fingerprint": "fingerprint", "id": "id"}
    given = {"digits": MAKER.DIGITS[path.suffix.removeprefix(".")], "bits": 100, "recipe": nd.Recipe(bits=100)}
    nd.import_fingerprint_files(path, tmp_path / "prints.parquet", threads=1, **given, **column)
    read = read_fingerprint_file(tmp_path / "prints.parquet").documents
    numbers = [high << 64 | low for high, low in read.fingerprints.tolist()]
    assert numbers == [number for _, number in expected_of(path)["digits"]]


@pytest.mark.parametrize("path", [*vectors("pairs", "pairs.jsonl"), *vectors("pairs", "pairs.parquet")])
def test_the_package_reads_pairs_of_every_version(path):
    summary, expected = read_pair_summary(place_of(path)), in_order(expected_of(path)[path.name])
    found = [
        dict(zip(("left_file", "left_row", "right_file", "right_row", "distance"), row, strict=True))
        for chunk in read_pairs(place_of(path), summary)
        for row in zip(
            chunk.left_files.to_pylist(),
            chunk.left_rows.tolist(),
            chunk.right_files.to_pylist(),
            chunk.right_rows.tolist(),
            chunk.distance.tolist(),
            strict=True,
        )
    ]
    assert in_order(found) == in_order([{name: pair[name] for name in found[0]} for pair in expected])


@pytest.mark.parametrize("path", vectors("clusters", "clusters.parquet"))
def test_the_package_reads_clusters_of_every_version(path, tmp_path, monkeypatch):
    monkeypatch.chdir(path.parent)
    clusters, expected = read_cluster_file(path), expected_of(path)[path.name]
    assert plain_ids(clusters.ids.drop_null()).to_pylist() == [row["id"] for row in expected]
    nd.apply_files(path, ["names.jsonl", "numbers.jsonl"], tmp_path / "kept.jsonl", audit=tmp_path / "audit.jsonl")
    kept = [json.loads(line)["id"] for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    assert kept == ["ferry", "bread", "渡轮", "short", 8, -11]
    audit = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    names = ("row", "survivor_row", "cluster_id", "similarity", "distance", "exact")
    removed = [[row[name] for name in names] for row in expected if row["row"] != row["survivor_row"]]
    assert [[line[name] for name in names] for line in audit] == removed


def test_pairs_and_fingerprints_of_the_vectors_give_their_clusters(tmp_path, monkeypatch):
    pairs, prints, clusters = (VECTORS / name for name in ("pairs/2", "fingerprints/2", "clusters/1"))
    nd.cluster_files(pairs / "pairs.jsonl", tmp_path / "clusters.parquet", documents=prints / "bits-128.parquet")
    assert pq.read_table(tmp_path / "clusters.parquet").to_pylist() == expected_of(clusters / "x")["clusters.parquet"]


@pytest.mark.parametrize("path", vectors("frequencies", "counts.parquet"))
def test_the_package_reads_document_frequencies_of_every_version(path):
    described, expected = describe_frequency_file(path), expected_of(path)
    assert (described.documents, described.features) == (expected["documents"], len(expected["features"]))
    counts = np.concatenate([counts for _, counts in frequency_parts(described)])
    assert sorted(counts.tolist()) == sorted(count for _, count in expected["features"])
    recipe = nd.Recipe(weights="tfidf", document_frequencies=path)
    assert nd.fingerprint(["The ferry to the northern islands"], recipe=recipe).shape == (1, 2)


# ------------------------------------------------------------------------------------------------------------ other versions


def resealed(path, target, **changed):
    """A copy of a Parquet file with other metadata and a seal that fits."""
    file = pq.ParquetFile(path)
    known = {name.decode(): text.decode() for name, text in file.metadata.metadata.items()}
    known = {name: text for name, text in known.items() if name.startswith("neardup.") and name not in naive.SEALS}
    writer = SealedWriter(
        target, file.schema_arrow.remove_metadata(), known | {f"neardup.{k}": v for k, v in changed.items()}
    )
    for number in range(file.num_row_groups):
        [batch] = file.read_row_group(number).combine_chunks().to_batches()
        writer.write(pa.record_batch(batch.columns, schema=file.schema_arrow.remove_metadata()))
    writer.close()


@pytest.mark.parametrize("version", ["1", "3"])
def test_a_fingerprint_file_of_another_version_is_refused(tmp_path, version):
    resealed(VECTORS / "fingerprints/2/bits-64.parquet", tmp_path / "a.parquet", format=version)
    message = rf"is no fingerprint file of format 2, but of format {version}. Make it anew with `neardup fingerprint`"
    with pytest.raises(nd.DataError, match=message):
        read_fingerprint_file(tmp_path / "a.parquet")


def test_clusters_of_another_version_are_refused(tmp_path):
    resealed(VECTORS / "clusters/1/clusters.parquet", tmp_path / "a.parquet", clusters='{"format": 2}')
    with pytest.raises(nd.DataError, match=r"it is no cluster file of format 1. Make it with `neardup clusters`"):
        read_cluster_file(tmp_path / "a.parquet")


@pytest.mark.parametrize("version", [1, 3])
def test_pairs_of_another_version_are_refused(tmp_path, version):
    summary = json.loads((VECTORS / "pairs/2/pairs.jsonl.summary.json").read_text())
    (tmp_path / "pairs.jsonl.summary.json").write_text(json.dumps(summary | {"format": version}))
    with pytest.raises(nd.DataError, match=r"it is not of format 2. Make the pairs anew with `neardup pairs`"):
        read_pair_summary(place_of(Path(tmp_path / "pairs.jsonl")))
