"""An index on disk read as docs/formats/index-folder.md says, with nothing of the package: slow, and every field is checked."""

import bisect
import hashlib
import itertools
import json
import math
import struct
import zlib
from pathlib import Path

import numpy as np
import xxhash

MAGIC = b"NDSEGMT\n"
KEYS = [
    "format", "generation", "bits", "max_distance", "method", "options", "recipe", "recipe_fields", "added", "strings",
    "segments", "short", "state", "short_rule", "checksum",
]  # fmt: skip
GOLDEN_RATIO = 0x9E3779B97F4A7C15


def checksum(content):
    return xxhash.xxh3_128_intdigest(content) >> 64


def read_manifest(folder):
    values = json.loads((folder / "index.json").read_bytes())
    assert list(values) in (KEYS, [key for key in KEYS if key != "short_rule"])
    assert values["format"] == 2
    rest = {key: value for key, value in values.items() if key != "checksum"}
    assert values["checksum"] == zlib.crc32(json.dumps(rest, sort_keys=True).encode("ascii"))
    assert (folder / "lock").read_bytes() == b""
    assert sorted(path.name for path in folder.iterdir()) == sorted([*files_of(values), "index.json", "lock"])
    check_recipe(values["recipe"], values["recipe_fields"])
    return values


def check_recipe(digest, recipe):
    if recipe is None:
        assert digest is None
        return
    coded = json.dumps(
        {key: value for key, value in recipe.items() if key != "files"}, sort_keys=True, separators=(",", ":")
    )
    assert digest == hashlib.sha256(coded.encode("ascii")).hexdigest()[:16]
    for file in recipe.get("files", []):
        assert list(file) == ["kind", "digest", "path", "kept"]
        assert file["kept"] == f"{file['kind']}-{file['digest']}.{'txt' if file['kind'] == 'words' else 'parquet'}"


def files_of(manifest):
    for segment in manifest["segments"] + manifest["short"]:
        assert list(segment) == ["file", "documents", "removed"]
        yield from (segment[key]["name"] for key in ("file", "removed") if segment[key])
    yield from (f["kept"] for f in (manifest["recipe_fields"] or {}).get("files", []) if "kept" in f)


class SegmentFile:
    """The arrays of a segment file, by name, its header, and where each part of it begins."""

    def __init__(self, path):
        self.content = content = Path(path).read_bytes()
        magic, version, length = struct.unpack_from("<8sIQ", content)
        assert (magic, version) == (MAGIC, 1)
        coded = content[20 : 20 + length]
        self.header = json.loads(coded)
        self.begin = math.ceil((20 + length) / 4096) * 4096
        self.end, self.seal, whole, magic = struct.unpack_from("<QQQ8s", content, len(content) - 32)
        assert (magic, whole) == (MAGIC, len(content))
        assert self.begin + self.header["bytes"] == self.end
        assert content[20 + length : self.begin].strip(b"\0") == b""
        self._check_pages(coded)
        self.arrays = dict(self._arrays())

    def _check_pages(self, coded):
        page = self.header["page"]
        assert page in (1 << 20, 4096)
        sums = self.content[self.end : -32]
        pages = [self.content[first : min(first + page, self.end)] for first in range(0, self.end, page)]
        assert sums == b"".join(checksum(each).to_bytes(8, "little") for each in pages)
        assert self.seal == checksum(coded + sums)

    def _arrays(self):
        filled = 0
        for listed in self.header["arrays"]:
            assert list(listed) == ["name", "dtype", "shape", "offset"]
            assert listed["offset"] == filled, "without gaps but those to the next multiple of 4096"
            dtype, count = np.dtype(listed["dtype"]), math.prod(listed["shape"])
            begin = self.begin + listed["offset"]
            last = begin + count * dtype.itemsize
            filled += math.ceil(count * dtype.itemsize / 4096) * 4096
            assert self.content[last : self.begin + filled].strip(b"\0") == b""
            yield listed["name"], np.frombuffer(self.content[begin:last], dtype).reshape(listed["shape"])
        assert filled == self.header["bytes"]


def number(words):
    """A fingerprint as one integer: its most significant word is first."""
    return sum(int(word) << 64 * place for place, word in enumerate(reversed(list(words))))


def bit(value, place, bits):
    """The bit at a place, counted from the most significant one."""
    return value >> (bits - 1 - place) & 1


def blocks_of(bits, blocks):
    edges = [bits * i // blocks for i in range(blocks + 1)]
    return [list(range(first, last)) for first, last in itertools.pairwise(edges)]


def keys_of_tables(method, bits, distance, options):
    """For each table the bits of its key, and how many of these may differ."""
    if method == "block-tables":
        cut = blocks_of(bits, options["blocks"])
        return [
            (list(itertools.chain(*chosen)), 0) for chosen in itertools.combinations(cut, options["blocks"] - distance)
        ]
    if method == "multi-index":
        radius, rest = divmod(distance, options["blocks"])
        radii = [radius if i <= rest else radius - 1 for i in range(options["blocks"])]
        return [pair for pair in zip(blocks_of(bits, options["blocks"]), radii, strict=True) if pair[1] >= 0]
    if method == "neighbours":
        return [(list(range(bits)), distance)]
    random = np.random.default_rng(options["seed"])
    return [(sorted(random.permutation(bits)[: options["prefix"]].tolist()), 0) for _ in range(options["tables"])]


def key_of(value, places, bits):
    return int("".join(str(bit(value, place, bits)) for place in places[:64]), 2)


def bucket_of(key, places, bucket_bits):
    if min(64, len(places)) <= bucket_bits:
        return key
    return key * GOLDEN_RATIO % 2**64 >> 64 - bucket_bits


class Segment:
    """A segment: `values` by position, `documents` as (id, fingerprint, removed) in the order in which they were added."""

    def __init__(self, folder, listed, bits, distance):
        file = SegmentFile(folder / listed["file"]["name"])
        assert file.seal == listed["file"]["seal"]
        assert list(file.header) == ["arrays", "bytes", "page", "method", "options"]
        self.arrays, self.options, self.method = dict(file.arrays), file.header["options"], file.header["method"]
        self.bits, self.words, self.distance = bits, bits // 64, distance
        members, starts, ids = self._take("members", "<u4"), self._take("member_starts", "<u4"), self._ids()
        n = listed["documents"]
        assert sorted(members.tolist()) == list(range(n))
        bounds = starts.tolist() if len(starts) else list(range(n + 1))
        self.members = [members[first:last].tolist() for first, last in itertools.pairwise(bounds)]
        assert all(each == sorted(each) for each in self.members)
        assert len(starts) == 0 or len(self.members) < n
        self.unique, self.tables = len(self.members), []
        self.values = getattr(self, "_" + self.method.replace("-", "_"))()
        assert not self.arrays, "the page names every array"
        assert len(set(self.values)) == self.unique
        removed = self._removed(folder, listed["removed"], n)
        by_document = {
            document: value for value, group in zip(self.values, self.members, strict=True) for document in group
        }
        self.documents = [(ids[i], by_document[i], removed[i] == 1) for i in range(n)]

    def _take(self, name, dtype, *shape):
        found = self.arrays.pop(name)
        assert found.dtype.str == dtype
        assert not shape or found.shape == shape
        return found

    def _ids(self):
        if "ids" in self.arrays:
            return self._take("ids", "<i8").tolist()
        offsets, content = self._take("id_offsets", "<i8"), self._take("id_bytes", "|u1").tobytes()
        assert (offsets[0], offsets[-1]) == (0, len(content))
        return [content[first:last].decode() for first, last in itertools.pairwise(offsets.tolist())]

    def _removed(self, folder, listed, n):
        if listed is None:
            return [0] * n
        file = SegmentFile(folder / listed["name"])
        assert file.seal == listed["seal"]
        assert list(file.header) == ["arrays", "bytes", "page"]
        assert [*file.arrays] == ["removed"]
        assert file.arrays["removed"].dtype.str == "|u1"
        return file.arrays["removed"].tolist()

    def _scan(self):
        values = [number(row) for row in self._take("columns", "<u8", self.words, self.unique).T]
        assert values == sorted(values)
        return values

    def _bit_lists(self):
        lists = self._take("lists", "<u8", self.bits, math.ceil(self.unique / 64)).tolist()
        values = [
            sum((row[p // 64] >> p % 64 & 1) << self.bits - 1 - place for place, row in enumerate(lists))
            for p in range(self.unique)
        ]
        assert values == sorted(values)
        return values

    def _sorted_beam(self):
        orders = self.options["permutations"]
        rows = self._take("orders", "<u8", orders, self.unique, self.words)
        positions = self._take("positions", "<u4", orders, self.unique).tolist()
        self.sources = self._take("sources", "<i8", orders, self.bits).tolist()
        self.orders, found = [], []
        for order, places, source in zip(rows, positions, self.sources, strict=True):
            assert sorted(source) == list(range(self.bits))
            permuted, values = [number(row) for row in order], [0] * self.unique
            assert permuted == sorted(permuted)
            for value, position in zip(permuted, places, strict=True):
                values[position] = sum(
                    bit(value, place, self.bits) << self.bits - 1 - original for place, original in enumerate(source)
                )
            self.orders.append((permuted, places))
            found.append(values)
        assert all(values == found[0] == sorted(values) for values in found)
        return found[0]

    def _tables(self):
        keys = keys_of_tables(self.method, self.bits, self.distance, self.options)
        columns = self._take("columns", "<u8", len(keys), self.words, self.unique)
        starts = self._take("starts", "<i8").tolist()
        positions = [list(range(self.unique)), *self._take("positions", "<u4", len(keys) - 1, self.unique).tolist()]
        bucket_bits = (len(starts[0]) - 1).bit_length() - 1
        assert len(starts[0]) == 2**bucket_bits + 1
        values = [number(row) for row in columns[0].T]
        for (places, radius), begins, rows, at in zip(keys, starts, columns, positions, strict=True):
            assert (begins[0], begins[-1]) == (0, self.unique)
            assert [number(row) for row in rows.T] == [values[position] for position in at]
            made = [key_of(value, places, self.bits) for value in values]
            for bucket, (first, last) in enumerate(itertools.pairwise(begins)):
                held = at[first:last]
                assert all(bucket_of(made[p], places, bucket_bits) == bucket for p in held)
                assert held == sorted(held, key=lambda p, at=at: (values[p], p) if at is positions[0] else p)
            self.tables.append((places, radius, begins, at, bucket_bits, made))
        return values

    _block_tables = _multi_index = _neighbours = _prefix_tables = _tables

    def positions_near(self, query):
        """The positions that the method compares with a query and finds within the distance."""
        if self.tables:
            compared = {p for table in self.tables for p in self._in_buckets(query, *table)}
        elif self.method == "sorted-beam":
            compared = {
                p
                for order, source in zip(self.orders, self.sources, strict=True)
                for p in self._around(query, *order, source)
            }
        else:
            compared = range(self.unique)
        return [p for p in compared if (self.values[p] ^ query).bit_count() <= self.distance]

    def _in_buckets(self, query, places, radius, begins, at, bucket_bits, made):
        key, width = key_of(query, places, self.bits), min(64, len(places))
        for flips in itertools.chain(*(itertools.combinations(range(width), r) for r in range(radius + 1))):
            near = key ^ sum(1 << flip for flip in flips)
            bucket = bucket_of(near, places, bucket_bits)
            for position in at[begins[bucket] : begins[bucket + 1]]:
                if made[position] == near:
                    yield position

    def _around(self, query, permuted, positions, source):
        asked = sum(bit(query, original, self.bits) << self.bits - 1 - place for place, original in enumerate(source))
        place, beam = bisect.bisect_left(permuted, asked), self.options["beam"]
        return positions[max(0, place - beam) : place + beam]


class IndexFolder:
    """Every file of an index."""

    def __init__(self, folder):
        self.manifest = read_manifest(folder)
        bits, distance = self.manifest["bits"], self.manifest["max_distance"]
        self.segments = [Segment(folder, listed, bits, distance) for listed in self.manifest["segments"]]
        self.short = [Segment(folder, listed, 128, 0) for listed in self.manifest["short"]]

    @staticmethod
    def query(segments, value):
        """Ids and distances: the nearest first, then in the order of adding."""
        found, base = [], 0
        for segment in segments:
            for position in segment.positions_near(value):
                for document in segment.members[position]:
                    id_, other, removed = segment.documents[document]
                    if not removed:
                        found.append(((other ^ value).bit_count(), base + document, id_))
            base += len(segment.documents)
        return [[id_, distance] for distance, _, id_ in sorted(found)]
