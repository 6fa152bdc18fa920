"""The files of stages read as docs/formats/ says, with nothing of the package: every checksum, every column, every key."""

import csv
import hashlib
import itertools
import json
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

SEALS = ("neardup.seal", "neardup.contents")
SHARD = ["name", "relative", "rows", "size", "content", "reading"]
FINGERPRINTS = ["id", "id_is_string", "fingerprint", "short", "tokens", "length", "digest"]
PAIRS = {
    "left_id": "large_string",
    "right_id": "large_string",
    "distance": "int32",
    "similarity": "double",
    "left_file": "dictionary<values=string, indices=int32, ordered=0>",
    "left_row": "int64",
    "right_file": "dictionary<values=string, indices=int32, ordered=0>",
    "right_row": "int64",
}
PLACES = ("left_file", "left_row", "right_file", "right_row")
PAIR_SUMMARY = [
    "format", "recipe", "digest", "method", "similarity", "min_similarity", "max_distance", "min_tokens", "distinct", "left",
    "right", "pairs", "checksum", "recipe_decides", "seal",
]  # fmt: skip
CLUSTERS = {
    "id": "large_string",
    "cluster_id": "int64",
    "survivor_id": "large_string",
    "id_is_string": "bool",
    "row": "int64",
    "survivor_row": "int64",
    "file": "dictionary<values=string, indices=int32, ordered=0>",
    "file_row": "int64",
    "survivor_file": "dictionary<values=string, indices=int32, ordered=0>",
    "survivor_file_row": "int64",
    "similarity": "double",
    "distance": "int64",
    "exact": "bool",
    "matched_row": "int64",
    "matched_similarity": "double",
}


def checksum(values):
    return zlib.crc32(json.dumps(values, sort_keys=True).encode("ascii"))


def recipe_digest(recipe):
    known = {name: value for name, value in recipe.items() if name != "files"}
    return hashlib.sha256(json.dumps(known, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()[:16]


def values_of(column):
    """What the checksum of a column is of: bits that say which values are there, then the values."""
    there = [value is not None for value in column.to_pylist()]
    yield np.packbits(there).tobytes()
    kind, values = column.type, column.to_pylist()
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        coded = [(value or "").encode() for value in values]
        yield np.array([len(value) for value in coded], "<i8").tobytes()
        yield b"".join(coded)
    elif pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        yield np.array([len(value) for value in values], "<i8").tobytes()
        yield zlib.crc32(b"".join(values_of(column.flatten()))).to_bytes(4, "little")
    elif pa.types.is_fixed_size_binary(kind):
        yield b"".join(values)
    else:
        dtype = {"bool": "|u1", "double": "<f8", "int32": "<i4", "int64": "<i8", "uint32": "<u4", "uint64": "<u8"}[
            str(kind)
        ]
        yield np.array([value or 0 for value in values], dtype).tobytes()


class SealedFile:
    """A Parquet file with a seal: its rows, its metadata without what Arrow adds, its schema."""

    def __init__(self, path):
        file = pq.ParquetFile(path, page_checksum_verification=True)
        known = {name.decode(): text.decode() for name, text in file.metadata.metadata.items()}
        self.metadata = {name: text for name, text in known.items() if name.startswith("neardup.")}
        self.schema = {field.name: (str(field.type), field.nullable) for field in file.schema_arrow}
        seal = self.seal = self.metadata.pop("neardup.seal")
        fields = [[name, kind, nullable] for name, (kind, nullable) in self.schema.items()]
        assert seal == f"{checksum([fields, sorted(self.metadata.items())]):08x}"
        self.groups = json.loads(self.metadata.pop("neardup.contents"))
        assert file.metadata.num_row_groups == len(self.groups)
        self.rows = []
        for number, (rows, *sums) in enumerate(self.groups):
            group = file.read_row_group(number).combine_chunks()
            assert group.num_rows == rows
            [batch] = group.to_batches()
            assert sums == [zlib.crc32(b"".join(values_of(column))) for column in batch.columns]
            self.rows += batch.to_pylist()
            columns = [file.metadata.row_group(number).column(i) for i in range(file.metadata.num_columns)]
            assert {column.compression for column in columns} == {"ZSTD"}


def check_shards(shards, folder):
    """Shards name files, with their sizes and contents."""
    for shard in shards:
        assert list(shard) == SHARD
        content = (folder / shard["name"]).read_bytes()
        assert shard["size"] == len(content)
        assert shard["content"] == "sha256:" + hashlib.sha256(content).hexdigest()[:32]


def starts_of(shards):
    return [0, *itertools.accumulate(shard["rows"] for shard in shards)]


def read_fingerprints(path):
    """The rows as JSON could have them, the recipe, the shards, and the default distance."""
    file = SealedFile(path)
    recipe, shards = (json.loads(file.metadata[f"neardup.{name}"]) for name in ("recipe", "shards"))
    assert set(file.metadata) <= {
        f"neardup.{name}" for name in ("format", "recipe", "digest", "max_distance", "short_rule", "shards")
    }
    assert file.metadata["neardup.format"] == "2"
    assert file.metadata["neardup.digest"] == recipe_digest(recipe)
    words = (recipe["bits"] + 63) // 64
    kinds = [
        "large_string",
        "bool",
        "uint64" if words == 1 else f"fixed_size_binary[{8 * words}]",
        "bool",
        "int64",
        "int64",
        "fixed_size_binary[16]",
    ]
    described = {name: (kind, name == "id") for name, kind in zip(FINGERPRINTS, kinds, strict=True)}
    further = {name: ("large_string", True) for name in file.schema if name.startswith("value:")}
    assert list(file.schema.items()) == list((described | further).items())
    check_shards(shards, path.parent)
    assert starts_of(shards)[-1] == len(file.rows)
    for row in file.rows:
        number = row["fingerprint"] if words == 1 else int.from_bytes(row["fingerprint"], "big")
        assert number >> recipe["bits"] == 0
        row |= {"fingerprint": f"{number:0{16 * words}x}", "digest": row["digest"].hex()}
        if row["tokens"] == -1:
            assert (row["id"], row["id_is_string"], row["short"]) == (None, True, True)
        assert (row["id"] is None) == (row["tokens"] == -1)
    return file.rows, recipe, shards, file.metadata.get("neardup.max_distance")


def read_digits(path, digits, bits):
    """Ids as they stand in the file (none in a text file), and fingerprints as integers."""
    base = {"hexadecimal": 16, "binary": 2}.get(digits, 10)
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".txt":
        rows = [(None, line) for line in content.splitlines()]
    elif path.suffix == ".jsonl":
        parsed = [json.loads(line) for line in content.splitlines()]
        assert all(list(row) == ["id", "fingerprint"] for row in parsed)
        rows = [(row["id"], row["fingerprint"]) for row in parsed]
    else:
        header, *rows = csv.reader(content.splitlines(), delimiter="\t" if path.suffix == ".tsv" else ",")
        assert header == ["id", "fingerprint"]
    width = {"hexadecimal": (bits + 3) // 4, "binary": bits}.get(digits)
    assert all(width in (None, len(text)) for _, text in rows)
    return [(id_, int(text, base) % 2**bits) for id_, text in rows]


def read_pairs(path):
    """The pairs, and the summary."""
    summary = json.loads(path.with_name(path.name + ".summary.json").read_bytes())
    assert list(summary) == PAIR_SUMMARY
    assert summary["format"] == 2
    assert summary["seal"] == checksum({name: value for name, value in summary.items() if name != "seal"})
    assert summary["digest"] == recipe_digest(summary["recipe"])
    check_shards([*summary["left"], *(summary["right"] or [])], path.parent)
    if path.suffix == ".parquet":
        file = SealedFile(path)
        assert file.schema == {name: (kind, True) for name, kind in PAIRS.items()}
        assert (file.metadata, summary["checksum"]) == ({}, None)
        pairs = file.rows
    else:
        content = path.read_bytes()
        assert summary["checksum"] == zlib.crc32(content)
        pairs = [json.loads(line) for line in content.splitlines()]
    assert all(list(pair) == list(PAIRS) for pair in pairs)
    assert summary["pairs"] == len(pairs) == len({tuple(pair[name] for name in PLACES) for pair in pairs})
    check_sides(pairs, summary)
    return pairs, summary


def check_sides(pairs, summary):
    """Left and right documents are of the shards of their side; on one side, the left one comes first."""
    left = [shard["name"] for shard in summary["left"]]
    right = left if summary["right"] is None else [shard["name"] for shard in summary["right"]]
    for pair in pairs:
        first = (left.index(pair["left_file"]), pair["left_row"])
        second = (right.index(pair["right_file"]), pair["right_row"])
        assert summary["right"] is not None or first < second


def read_clusters(path):
    """The rows, and what the metadata says."""
    file = SealedFile(path)
    assert file.schema == {name: (kind, True) for name, kind in CLUSTERS.items()}
    assert list(file.metadata) == ["neardup.clusters"]
    said = json.loads(file.metadata["neardup.clusters"])
    assert list(said) == ["format", "shards", "short", "repeated_ids", "rejected", "summary"]
    assert said["format"] == 1
    check_shards(said["shards"], path.parent)
    starts, by_row = starts_of(said["shards"]), {row["row"]: row for row in file.rows}
    assert len(said["short"]) == len(said["repeated_ids"]) == len(said["shards"])
    for row in file.rows:
        for prefix in ("", "survivor_"):
            shard = next(i for i, end in enumerate(starts[1:]) if row[prefix + "row"] < end)
            assert row[prefix + "file"] == said["shards"][shard]["name"]
            assert row[prefix + "file_row"] == row[prefix + "row"] - starts[shard]
        survivor = by_row[row["survivor_row"]]
        assert (survivor["id"], survivor["survivor_row"]) == (row["survivor_id"], survivor["row"])
        assert row["cluster_id"] == min(each["row"] for each in file.rows if each["cluster_id"] == row["cluster_id"])
    assert list(by_row) == sorted(by_row)
    return file.rows, said


def feature_hash(tokens):
    """A feature of one token, or of several."""
    hashes = [xxhash.xxh3_64_intdigest(token.encode().ljust(16, b"\0")) for token in tokens]
    return (
        hashes[0] if len(hashes) == 1 else xxhash.xxh3_64_intdigest(b"".join(h.to_bytes(8, "little") for h in hashes))
    )


def read_frequencies(path):
    """The number of documents with each feature, by the feature's hash; and the number of all documents."""
    file = pq.ParquetFile(path)
    known = {name.decode(): text.decode() for name, text in file.metadata.metadata.items()}
    known = {name.removeprefix("neardup."): text for name, text in known.items() if name.startswith("neardup.")}
    assert sorted(known) == ["content", "documents", "frequencies", "tokenization", "tokenization_digest"]
    assert known["frequencies"] == "1"
    assert [(field.name, str(field.type), field.nullable) for field in file.schema_arrow] == [
        ("feature", "uint64", False),
        ("documents", "int64", False),
    ]
    features, counts = (column.to_numpy() for column in file.read().columns)
    assert known["tokenization_digest"] == hashlib.sha256(known["tokenization"].encode()).hexdigest()[:16]
    columns = [
        hashlib.sha256(each.astype(kind).tobytes()).hexdigest() for each, kind in ((features, "<u8"), (counts, "<i8"))
    ]
    whole = json.dumps([*columns, int(known["documents"]), known["tokenization"]])
    assert known["content"] == hashlib.sha256(whole.encode()).hexdigest()[:16]
    assert features.tolist() == sorted(set(features.tolist()))
    return dict(zip(features.tolist(), counts.tolist(), strict=True)), int(known["documents"])
