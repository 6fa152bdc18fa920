"""A store on disk read as docs/formats/store.md says, with nothing of the package: slow, and every field is checked."""

import hashlib
import itertools
import json
import math
import sqlite3
import struct
import sys
import zlib
from contextlib import closing

import numpy as np
import xxhash

from naive_index_folder import IndexFolder, SegmentFile
from naive_stage_files import SealedFile

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TABLES = {
    "facts": [("name", "TEXT", 1), ("value", "TEXT", 1), ("checksum", "INTEGER", 1)],
    "documents": [
        ("number", "INTEGER", 0), ("id", "TEXT", 1), ("first_seen", "REAL", 1), ("last_seen", "REAL", 1), ("expires", "REAL", 0),
        ("metadata", "TEXT", 0), ("rank", "REAL", 0), ("checksum", "INTEGER", 1),
    ],
    "removed": [
        ("number", "INTEGER", 0), ("digest", "BLOB", 1), ("survivor", "INTEGER", 1), ("similarity", "REAL", 0),
        ("distance", "INTEGER", 1), ("last_seen", "REAL", 1), ("checksum", "INTEGER", 1),
    ],
    "gone": [("chunk", "INTEGER", 0), ("bits", "BLOB", 1), ("checksum", "INTEGER", 1)],
}  # fmt: skip
OPTIONAL = {
    "texts": [("number", "INTEGER", 0), ("text", "BLOB", 0)],
    "removed_texts": [("number", "INTEGER", 0), ("survivor", "INTEGER", 1), ("id", "TEXT", 1), ("text", "BLOB", 0)],
    "judgements": [
        ("number", "INTEGER", 0), ("left", "BLOB", 1), ("right", "BLOB", 1), ("kind", "TEXT", 1), ("left_id", "TEXT", 0),
        ("right_id", "TEXT", 1), ("same", "INTEGER", 1), ("similarity", "REAL", 0), ("distance", "INTEGER", 1),
        ("judged", "REAL", 1), ("left_text", "BLOB", 0), ("right_text", "BLOB", 0), ("checksum", "INTEGER", 1),
    ],
    "skipped": [
        ("number", "INTEGER", 0), ("id", "TEXT", 1), ("survivor", "INTEGER", 1), ("digest", "BLOB", 0), ("checksum", "INTEGER", 1),
    ],
    "skipped_contents": [
        ("number", "INTEGER", 0), ("survivor", "INTEGER", 1), ("digest", "BLOB", 1), ("content", "BLOB", 1),
        ("checksum", "INTEGER", 1),
    ],
    "orphans": [
        ("number", "INTEGER", 0), ("id", "TEXT", 1), ("compared", "INTEGER", 1), ("orphaned", "REAL", 1),
        ("checksum", "INTEGER", 1),
    ],
}  # fmt: skip
"""Tables that a store with texts, with judgements, or with skipped documents has besides."""
FACTS = [
    "derived", "documents", "ends", "format", "generation", "max_distance", "plan", "recipe", "removed", "rules", "state", "store",
]  # fmt: skip
PLAN = ["agreement", "bands", "max_distance", "min_tokens", "rows"]
RULES = ["floor", "keep", "max_distance", "method", "min_similarity", "similarity"]
CHUNK = 8192
BITMAP_WORDS = 8
M64 = 2**64 - 1
GOLDEN_RATIO = 0x9E3779B97F4A7C15
HEADER = struct.Struct("<8sI4s24sQ8sQ")
EXPORTED_FACTS = [
    "checksum", "documents", "format", "max_distance", "plan", "recipe", "removed", "rules", "seals", "state",
]  # fmt: skip
EXPORTED_REMOVED = {
    "digest": "fixed_size_binary[16]", "survivor": "int64", "similarity": "double", "distance": "int32", "last_seen": "double",
}  # fmt: skip


def real(value):
    """A value of a column that may be null, as checksums have it."""
    return math.nan if value is None else value


def crc_of_fact(name, value):
    return zlib.crc32(name.encode() + b"\0" + value.encode())


def crc_of_document(number, coded_id, first_seen, last_seen, expires, metadata, rank):
    numbers = struct.pack("<qddd", number, first_seen, real(expires), real(rank))
    texts = coded_id if metadata is None else f"{coded_id}\0{metadata}"
    return zlib.crc32(numbers + texts.encode()) + int(last_seen * 1_000_000.0)


def crc_of_removed(number, digest, survivor, similarity, distance, last_seen):
    return zlib.crc32(struct.pack("<q16sqdqd", number, digest, survivor, real(similarity), distance, last_seen))


def crc_of_gone(chunk, bits):
    return zlib.crc32(struct.pack("<q", chunk) + bits)


def crc_of_judgement(number, left, right, kind, left_id, right_id, same, similarity, distance, judged, *texts):
    numbers = struct.pack("<qqdd", same, distance, real(similarity), judged)
    names = f"{kind}\0{left_id or ''}\0{right_id}\0".encode()
    return zlib.crc32(left + right + numbers + names + b"".join(text or b"" for text in texts))


def text_of(digest, coded_id, sealed):
    """The text of a document, which its seal binds to it."""
    assert int.from_bytes(sealed[:4], "little") == zlib.crc32(digest + coded_id.encode() + sealed[4:])
    return zstd.decompress(sealed[4:]).decode()


CHECKSUMS = {"facts": crc_of_fact, "documents": crc_of_document, "removed": crc_of_removed, "gone": crc_of_gone}
CHECKSUMS |= {"judgements": crc_of_judgement}
CHECKSUMS |= {
    "skipped": lambda _, name, survivor, digest: zlib.crc32((digest or b"") + name.encode()) + survivor,
    "skipped_contents": lambda _, survivor, digest, content: zlib.crc32(digest + content) + survivor,
    "orphans": lambda number, name, compared, orphaned: zlib.crc32(
        struct.pack("<qqd", number, compared, orphaned) + name.encode()
    ),
}


def set_fact(folder, name, value):
    """Write a fact of a store that is closed, with its checksum."""
    coded = json.dumps(value, sort_keys=True)
    with closing(sqlite3.connect(folder / "record.sqlite")) as base, base:
        base.execute("UPDATE facts SET value = ?, checksum = ? WHERE name = ?", (coded, crc_of_fact(name, coded), name))


def row_checksum(words):
    return sum((word + (i + 1) * GOLDEN_RATIO) * (0xD1B54A32D192ED03 + 2 * i) for i, word in enumerate(words)) & M64


def short_key(key):
    return (key * GOLDEN_RATIO & M64) >> 32


def hexadecimal(words):
    return "".join(f"{word:016x}" for word in words)


def read_record(path):
    """The rows of every table, by its name, and the facts."""
    tables = {}
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as base:
        names = {row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert set(TABLES) <= names <= {*TABLES, *OPTIONAL}
        for name, columns in [*TABLES.items(), *((name, OPTIONAL[name]) for name in sorted(names & {*OPTIONAL}))]:
            known = [(row[1], row[2], row[3]) for row in base.execute(f"PRAGMA table_info({name})")]
            assert [column for column, *_ in known] == [column for column, *_ in columns]
            assert [kind for _, kind, _ in known] == [kind for _, kind, _ in columns]
            assert [must for *_, must in known] == [must for *_, must in columns]
            rows = base.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall()
            if name in CHECKSUMS:
                assert all(CHECKSUMS[name](*row[:-1]) == row[-1] for row in rows)
                rows = [row[:-1] for row in rows]
            tables[name] = rows
    facts = {name: json.loads(value) for name, value in tables["facts"]}
    assert {*FACTS} <= facts.keys() <= {*FACTS, "latest", "writer", "skipped", "short_rule", "keep_as"}
    assert facts.get("skipped", {"since": 0, "generation": 0, "orphans": 0}).keys() == {
        "since",
        "generation",
        "orphans",
    }
    assert facts["format"] == 1
    assert sorted({*facts["rules"]} - {"keep_as", "guard"}) == RULES + ["texts"] * ("texts" in tables)
    assert facts["rules"].get("texts", True) is True
    assert sorted(facts["plan"]) == PLAN
    for name, value in tables["facts"]:
        assert value == json.dumps(facts[name], sort_keys=True)
    return tables, facts


def required_part(whole, threshold):
    return next(o for o in itertools.count(1) if o / whole >= threshold)


def bands_needed(similarity, rows, miss):
    return next((b for b in range(1, 1025) if math.exp(b * math.log1p(-(similarity**rows))) <= miss), 1025)


def bands_of(similarity):
    """The number of bands, and the values of each."""
    if similarity == 1:
        return 1, 128
    needed = {rows: bands_needed(similarity, rows, 0.0009) for rows in range(1, 129)}
    rows = max((rows for rows, bands in needed.items() if rows * bands <= 128), default=1)
    return needed[rows], rows


def bitmap_of(elements):
    words = [0] * BITMAP_WORDS
    for element in elements:
        high = (element * GOLDEN_RATIO & M64) >> 40
        words[high // 64 % BITMAP_WORDS] |= 1 << high % 64
    return words


def kinds_of(measure, rules):
    """The kinds of elements that a store keeps."""
    if rules["min_similarity"] == 0:
        return []
    return ["compared", "joined"] if rules["method"] == "exact" and measure == "edit" else ["compared"]


class StoreFolder:
    """Every file of a store.

    `documents`: kept documents by number; `removed`: remembered texts; `gone`: the numbers of documents that were removed;
    `postings`: by name, all entries that are in segments, as (key, text, position, size).
    """

    def __init__(self, folder):
        self.folder = folder
        tables, self.facts = read_record(folder / "record.sqlite")
        self.rules, self.recipe = self.facts["rules"], self.facts["recipe"]
        self.gone = self._gone(tables["gone"])
        self.removed = [self._removed_row(row) for row in tables["removed"]]
        assert [row["number"] for row in self.removed] == list(range(self.facts["removed"]))
        self._read_contents()
        self.documents = {row[0]: self._document(row) for row in tables["documents"]}
        assert {*self.documents} | self.gone == set(range(self.facts["documents"]))
        assert not {*self.documents} & self.gone
        self._read_texts(tables)
        self._read_derived()
        assert {path.name for path in folder.iterdir()} == self._names()

    def _names(self):
        listed = self.facts["derived"]
        names = {"record.sqlite", "lock", *(f"{name}-{self.facts['generation']}" for name in self.facts["ends"])}
        names |= {each["file"] for each in [*listed["orders"], *itertools.chain(*listed["segments"].values())]}
        names |= {file["kept"] for file in self.recipe.get("files", []) if "kept" in file}
        return names | ({"distances"} if self.rules["method"] == "simhash" else set())

    # ------------------------------------------------------------------------------------------------------- the record

    def _gone(self, rows):
        found = set()
        for chunk, bits in rows:
            assert len(bits) == CHUNK
            found |= {8 * CHUNK * chunk + place for place in range(8 * CHUNK) if bits[place // 8] >> place % 8 & 1}
        return found

    def _read_texts(self, tables):
        """Texts by the number of a document; those of remembered duplicates, with ids, by theirs; and judgements with texts."""
        self.texts, self.removed_texts, self.judgements = {}, {}, []
        for number, sealed in tables.get("texts", []):
            document = self.documents[number]
            coded = json.dumps(document["id"], ensure_ascii=False)
            self.texts[number] = text_of(bytes.fromhex(document["digest"]), coded, sealed)
        for number, survivor, coded, sealed in tables.get("removed_texts", []):
            row = self.removed[number]
            assert row["survivor"] == survivor
            self.removed_texts[number] = (json.loads(coded), text_of(row["digest"], coded, sealed))
        for row in tables.get("judgements", []):
            row = dict(zip([name for name, *_ in OPTIONAL["judgements"]], row, strict=False))
            for side in ("left", "right"):
                row[f"{side}_text"] = text_of(row[side], row[f"{side}_id"], row[f"{side}_text"])
            self.judgements.append(row)

    def _removed_row(self, row):
        found = dict(zip([name for name, *_ in TABLES["removed"][:-1]], row, strict=True))
        assert len(found["digest"]) == 16
        return found

    def _document(self, row):
        found = dict(zip([name for name, *_ in TABLES["documents"][:-1]], row, strict=True))
        for name in ("id", "metadata"):
            coded = found[name]
            found[name] = None if coded is None else json.loads(coded)
            assert coded is None or coded == json.dumps(found[name], ensure_ascii=False)
        return found | self.rows[row[0]]

    # ----------------------------------------------------------------------------------------------------- the contents

    @property
    def measure(self):
        given = self.rules["similarity"]
        return given if isinstance(given, str) else given["measure"]

    @property
    def kinds(self):
        return kinds_of(self.measure, self.rules)

    @property
    def has_bitmaps(self):
        if self.measure == "edit":
            return self.kinds[-1:] == ["joined"]
        return self.kinds != [] and self.measure != "cosine"

    def _read_contents(self):
        ends, words = self.facts["ends"], -(-self.recipe["bits"] // 64)
        weighted = self.measure == "cosine"
        types = {"rows": "<u8"}
        for kind in self.kinds:
            types |= {kind: "<u8"} | ({f"{kind}_weights": "<f8"} if weighted else {})
        if self.rules["method"] == "minhash":
            types["signatures"] = "<u4"
        assert sorted(types) == sorted(ends)
        items = {name: self._items(name, dtype, ends[name]) for name, dtype in types.items()}
        place = 3 + words + 3 * len(self.kinds)
        width, n = (
            place + ("signatures" in types) + ("guard" in self.rules) + BITMAP_WORDS * self.has_bitmaps + 1,
            self.facts["documents"],
        )
        assert ends["rows"] == n * width
        rows = items["rows"].reshape(n, width).tolist()
        self.rows = [self._row(number, row, words, items) for number, row in enumerate(rows)]
        self._check_plan()
        if "signatures" in items:
            self.bands = (self.facts["plan"]["bands"], self.facts["plan"]["rows"])
            signatures = items["signatures"].reshape(n, math.prod(self.bands)).tolist()
            for row, written, values in zip(self.rows, rows, signatures, strict=True):
                assert written[place] == row_checksum(values)
                row["signature"] = values

    def _check_plan(self):
        plan, limits = self.facts["plan"], (self.rules["max_distance"], self.facts["max_distance"])
        is_minhash = self.rules["method"] == "minhash"
        bands = bands_of(self.rules["min_similarity"]) if is_minhash else (None, None)
        assert (plan["bands"], plan["rows"]) == bands
        assert (plan["agreement"] is not None) == is_minhash
        if self.rules["method"] == "simhash":
            assert plan["max_distance"] == next((each for each in limits if each is not None), 18)
        else:
            usual = int(0.3 * self.recipe["bits"]) if is_minhash else None
            assert plan["max_distance"] == (usual if limits[0] is None else limits[0])

    def _items(self, name, dtype, end):
        content = (self.folder / f"{name}-{self.facts['generation']}").read_bytes()
        size = HEADER.size + end * np.dtype(dtype).itemsize
        assert len(content) == size, "it was closed cleanly"
        magic, version, kind, named, generation, store, checksum = HEADER.unpack_from(content)
        assert (magic, version, kind.rstrip(b"\0"), named.rstrip(b"\0")) == (
            b"NDSTORE\n",
            1,
            dtype.encode(),
            name.encode(),
        )
        assert (generation, store.hex()) == (self.facts["generation"], self.facts["store"])
        assert checksum == xxhash.xxh3_128_intdigest(content[:56]) >> 64
        return np.frombuffer(content, dtype, offset=HEADER.size)

    def _row(self, number, row, words, items):
        assert row[-1] == row_checksum([*row[:-1], number])
        found = {"digest": hexadecimal(row[:2]), "tokens": row[2], "fingerprint": hexadecimal(row[3 : 3 + words])}
        for place, kind in enumerate(self.kinds):
            begin, count, checksum = row[3 + words + 3 * place : 6 + words + 3 * place]
            elements = items[kind][begin : begin + count]
            assert len(elements) == count
            total = row_checksum(elements.tolist())
            if f"{kind}_weights" in items:
                weights = items[f"{kind}_weights"][begin : begin + count]
                total ^= row_checksum(weights.view("<u8").tolist())
                found[f"{kind}_weights"] = weights.tolist()
            assert total == checksum
            found[kind] = elements.tolist()
        if "guard" in self.rules:
            found["numbers"] = row[-2 - BITMAP_WORDS * self.has_bitmaps]
        if self.has_bitmaps:
            assert row[-1 - BITMAP_WORDS : -1] == bitmap_of(found[self.kinds[-1]])
        return found

    # ------------------------------------------------------------------------------------------------------ the derived

    def _read_derived(self):
        listed = self.facts["derived"]
        assert list(listed) == ["documents", "orders", "removed", "segments", "serial"]
        assert listed["documents"] == self.facts["documents"], "a clean close writes all"
        assert listed["removed"] == self.facts["removed"]
        self.orders = [{}, *(self._order(each) for each in listed["orders"])]
        self.postings = {
            name: [entry for each in segments for entry in self._segment(each)]
            for name, segments in listed["segments"].items()
        }
        if self.rules["method"] == "simhash":
            self._read_distances()

    def _file(self, listed, prefix, header):
        assert [name for name in listed if name != "documents"] == ["file", "seal"]
        assert ("documents" in listed) == (prefix == "order")
        name, _, serial = listed["file"].partition("-")
        assert name == prefix
        assert 1 <= int(serial) <= self.facts["derived"]["serial"]
        file = SegmentFile(self.folder / listed["file"])
        assert f"{file.seal:016x}" == listed["seal"]
        assert list(file.header) == ["arrays", "bytes", "page", *header]
        assert file.header["page"] == (4096 if prefix == "segment" else 1 << 20)
        return file

    def _order(self, listed):
        arrays = self._file(listed, "order", []).arrays
        assert [(name, array.dtype.str) for name, array in arrays.items()] == [("elements", "<u8"), ("counts", "<u4")]
        found = dict(zip(arrays["elements"].tolist(), arrays["counts"].tolist(), strict=True))
        assert len(found) == len(arrays["elements"])
        assert all(2 <= count < 2**24 for count in found.values())
        return found

    def _segment(self, listed):
        file = self._file(listed, "segment", ["shift", "documents"])
        types = {"keys": "<u4", "texts": "<u4", "positions": "<u2", "sizes": "<u2", "directory": "<u4"}
        assert {name: array.dtype.str for name, array in file.arrays.items()} == types
        arrays = {name: array.tolist() for name, array in file.arrays.items()}
        keys, directory = arrays["keys"], arrays.pop("directory")
        bits = min(max((len(keys) // 8).bit_length(), 1), 28)
        assert file.header["shift"] == 32 - bits
        assert len(directory) == 2**bits + 1
        for bucket, (first, last) in enumerate(itertools.pairwise(directory)):
            assert all(key >> 32 - bits == bucket for key in keys[first:last])
        assert (directory[0], directory[-1]) == (0, len(keys))
        assert keys == sorted(keys)
        assert file.header["documents"] <= self.facts["derived"]["documents"]
        return list(zip(*arrays.values(), strict=True))

    def _read_distances(self):
        index = IndexFolder(self.folder / "distances")
        assert index.manifest["max_distance"] == self.facts["plan"]["max_distance"]
        own = {name: self.facts[name] for name in ("documents", "generation", "store")}
        assert index.manifest["state"] == own
        assert index.manifest["short"] == []
        self.distances = {
            id_: f"{value:0{index.manifest['bits'] // 4}x}"
            for each in index.segments
            for id_, value, _ in each.documents
        }

    # --------------------------------------------------------------------------------- the postings, made of the others

    def expected_postings(self, min_tokens):
        """By name, the entries that segments must have of kept documents, and of remembered texts; those of an order in one."""
        made = {"ids": [], "digests": []}
        for number, row in self.documents.items():
            coded = json.dumps(row["id"], ensure_ascii=False).encode()
            made["ids"].append((xxhash.xxh3_128_intdigest(coded) >> 64, number, 0, 0))
            made["digests"].append((int(row["digest"][:16], 16), number, 0, 0))
        made["removed"] = [(int.from_bytes(row["digest"][:8]), row["number"], 0, 0) for row in self.removed]
        long_enough = {number: row for number, row in self.documents.items() if row["tokens"] >= min_tokens}
        if self.rules["method"] == "minhash":
            made["bands"] = [
                (key, number, 0, 0)
                for number, row in long_enough.items()
                for key in self.band_keys(row)
                if row["compared"]
            ]
        return {name: sorted((short_key(key), *rest) for key, *rest in entries) for name, entries in made.items()}

    def band_keys(self, row):
        bands, rows = self.bands
        for band in range(bands):
            key = (band + 1) * GOLDEN_RATIO & M64
            for value in row["signature"][band * rows : (band + 1) * rows]:
                key = (key ^ value) * GOLDEN_RATIO & M64
                key ^= key >> 29
            yield key

    def check_orders(self, min_tokens):
        """Check that each document is kept under one order, with its prefix or all its elements; returns the orders by number."""
        found = {}
        named = [tuple(name.rsplit("-", 1)) for name in self.postings if "-" in name]
        sides = ["all", "prefixes"] if self.measure == "containment" else ["prefixes"]
        for side, version in named:
            assert side in sides
            entries = [entry for entry in self.postings[f"{side}-{version}"] if entry[1] not in self.gone]
            for number in {number for _, number, *_ in entries}:
                assert found.setdefault((side, number), int(version)) == int(version)
                held = sorted(entry for entry in entries if entry[1] == number)
                made = self.keys_under(self.documents[number], number, self.orders[int(version)], whole=side == "all")
                assert held == sorted(made)
        keyed = {
            number for number, row in self.documents.items() if row["tokens"] >= min_tokens and row[self.kinds[-1]]
        }
        assert {*found} == {(side, number) for side in sides for number in keyed}
        return found

    def keys_under(self, row, number, order, *, whole):
        """The entries of a document under an order: of its prefix, or of all its elements."""
        kind = self.kinds[-1]
        weights = dict(zip(row[kind], row.get(f"{kind}_weights", ()), strict=bool(row.get(f"{kind}_weights"))))
        elements = sorted(row[kind], key=lambda element: (order.get(element, 0), element))
        n = len(elements)
        if n and not whole:
            elements = elements[: self._prefix(n, [weights[element] for element in elements] if weights else None)]
        return [
            (short_key(element), number, min(place, 65_535), min(n, 65_535)) for place, element in enumerate(elements)
        ]

    def _prefix(self, n, weights):
        least = self.rules["floor"] or self.rules["min_similarity"]
        if self.measure != "cosine":
            return n - required_part(n, least) + 1
        squares = [weight * weight for weight in weights]
        limit = (least * least * (1 - 1e-12) - n * 2**-50) * sum(squares)
        rest, length = sum(squares), 0
        while length < n and rest >= limit:
            rest -= squares[length]
            length += 1
        return length


def read_export(folder):
    """The facts of an export, and the rows of its files."""
    facts = json.loads((folder / "store.json").read_bytes())
    later = {"skipped_since", "keep_as", "short_rule"}  # which older ones lack
    assert [name for name in facts if name not in later] == EXPORTED_FACTS
    assert facts["format"] == 1
    assert sorted(facts["plan"]) == PLAN
    checksum = facts.pop("checksum")
    assert checksum == zlib.crc32(json.dumps(facts, sort_keys=True).encode())
    assert {path.name for path in folder.iterdir()} == {
        "store.json", *facts["seals"], *(file["kept"] for file in facts["recipe"].get("files", [])),
    }  # fmt: skip
    with_texts = facts["rules"].get("texts", False)
    of_removed = EXPORTED_REMOVED | ({"id": "string", "text": "large_string"} if with_texts else {})
    documents, removed = (SealedFile(folder / f"{name}.parquet") for name in ("documents", "removed"))
    for file, types, rows in ((documents, exported_types(facts), "documents"), (removed, of_removed, "removed")):
        assert {name: kind for name, (kind, _) in file.schema.items()} == types
        assert len(file.rows) == facts[rows]
        assert file.metadata == {"neardup.format": "1"}
        assert file.seal == facts["seals"][f"{rows}.parquet"]
    return facts, documents.rows, removed.rows


def exported_types(facts):
    """The types of the columns of documents, by name."""
    words, rules = -(-facts["recipe"]["bits"] // 64), facts["rules"]
    types = {"id": "string", "first_seen": "double", "last_seen": "double", "expires": "double", "metadata": "string"}
    types |= {"rank": "double"} | ({"text": "large_string"} if rules.get("texts") else {})
    types |= {"digest": "fixed_size_binary[16]", "tokens": "int64"}
    types |= {"fingerprint": f"fixed_size_binary[{8 * words}]"}
    measure = rules["similarity"] if isinstance(rules["similarity"], str) else rules["similarity"]["measure"]
    for kind in kinds_of(measure, rules):
        types[kind] = "list<element: uint64>"
        types |= {f"{kind}_weights": "list<element: double>"} if measure == "cosine" else {}
    if rules["method"] == "minhash":
        types["signature"] = f"fixed_size_list<element: uint32>[{facts['plan']['bands'] * facts['plan']['rows']}]"
    return types | ({"numbers": "uint64"} if "guard" in rules else {})


def recipe_digest(recipe):
    """The digest of a stored recipe."""
    values = {key: value for key, value in recipe.items() if key not in ("files", "of")}
    coded = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(coded.encode("ascii")).hexdigest()[:16]
