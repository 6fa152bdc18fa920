"""Write the known-answer vectors of the file formats: small files of every version, and what they hold, in tests/golden/formats/.

    python tools/make_format_vectors.py

It writes only versions that have no vectors yet: those of an older version stay as that version wrote them. What is expected comes
from the texts and from what the package has in memory, not from the files.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa

import neardup as nd
from neardup.fingerprints.files.fingerprint_file import FORMAT as FINGERPRINTS_FORMAT
from neardup.fingerprints.simhash import Fingerprints, fingerprint_array
from neardup.hamming.index.files.folder import FORMAT as MANIFEST_FORMAT
from neardup.hamming.index.files.segment_file import FORMAT as SEGMENT_FORMAT
from neardup.matching.pair_file import FORMAT as PAIRS_FORMAT
from neardup.recipe.files.frequency_file import FORMAT as FREQUENCIES_FORMAT
from neardup.recipe.files.word_lists import word_list
from neardup.recipe.programs import Digits
from neardup.store.record.record import FORMAT as RECORD_FORMAT
from neardup.store.upkeep.export import FORMAT as EXPORT_FORMAT
from neardup.survivors.records.cluster_file import FORMAT as CLUSTERS_FORMAT

VECTORS = Path(__file__).parent.parent / "tests/golden/formats"

FERRY = "The ferry to the northern islands leaves the old harbour at ten past nine on every day but {}, wind and tide permitting."
BREAD = (
    "Mix flour, water, salt and yeast, let the dough rise for an hour under a cloth, and bake it until the crust is {}."
)
CLOCK = (
    "A clock that loses four minutes a day is right about once a year; one that has stopped is right twice every day."
)
TEXTS: dict[str, list[tuple[str | int, str | None]]] = {
    "names.jsonl": [
        ("ferry", FERRY.format("Sunday")),
        ("ferry, again", FERRY.format("Monday")),
        ('the "ferry"', FERRY.format("Sunday").upper()),
        ("bread", BREAD.format("brown")),
        ("渡轮", "开往北部群岛的渡轮除星期日外每天九点十分从旧港出发，天气允许时乘客可以在甲板上看海。"),
        ("short", "Good morning"),
    ],
    "numbers.jsonl": [
        (7, BREAD.format("dark")),
        (8, CLOCK),
        (9, CLOCK),
        (10, "Good morning"),
        (-11, "北の島々へ向かうフェリーは、日曜日を除く毎日、九時十分に古い港を出ます。"),
        (12, None),
    ],
}
"""By file: ids and texts; a text that is null is a rejected row."""
STOP_WORDS = "/corpus/stop-words.txt"
"""The path that the vectors record for a file of stop words; there is no such file."""

INDEXES: dict[str, tuple[int, dict[str, int]]] = {
    "scan": (20, {}),
    "bit-lists": (12, {}),
    "block-tables": (3, {"blocks": 5}),
    "multi-index": (13, {"blocks": 5}),
    "neighbours": (2, {}),
    "prefix-tables": (12, {"prefix": 7, "tables": 3, "seed": 5}),
    "sorted-beam": (12, {"permutations": 2, "beam": 2, "seed": 5}),
}
"""By method: the distance and the options of the index."""
FLIPPED = ((), (0,), (63,), (5, 40), (1, 2, 3), (3, 13, 23, 33, 43, 53), (0, 7, 14, 21, 28, 35, 42, 49, 56, 63))
"""Bits that differ between a document and a query, counted from the most significant one."""


def write_texts(folder: Path) -> list[str]:
    """Write the texts as JSON lines; return the names of the files."""
    for name, rows in TEXTS.items():
        lines = (json.dumps({"id": id_, "text": text}, ensure_ascii=False) + "\n" for id_, text in rows)
        (folder / name).write_text("".join(lines), encoding="utf-8")
    return list(TEXTS)


def write_json(path: Path, values: Any) -> None:
    """Write what is expected, one entry of a list a line."""
    parts = []
    for name, value in values.items():
        if isinstance(value, list) and value:
            listed = ",\n  ".join(json.dumps(each, ensure_ascii=False) for each in value)
            parts.append(f" {json.dumps(name)}: [\n  {listed}\n ]")
        else:
            parts.append(f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def as_hex(words: Iterable[Any]) -> str:
    """A fingerprint or a digest, most significant word first."""
    return "".join(f"{int(word):016x}" for word in words)


def fingerprints_of(texts: Sequence[str], recipe: nd.Recipe) -> Fingerprints:
    """Fingerprints, digests and numbers of tokens."""
    return fingerprint_array(pa.array(texts, pa.large_string()), recipe)


def rows_of(value: Any) -> Any:
    """Fingerprints as uint64[n, words]."""
    return value.reshape(len(value), -1)


# ----------------------------------------------------------------------------------------------------------------- the index


def write_indexes(folder: Path) -> None:
    """An index for each method."""
    for method, (distance, options) in INDEXES.items():
        make = _index_of_texts if method == "scan" else _index_of_numbers
        make(folder / method, method, distance, options)


def _documents() -> tuple[list[tuple[str | int, str]], list[tuple[str | int, str]]]:
    """The texts that are long enough for a fingerprint, and the short ones."""
    known = [(id_, text) for rows in TEXTS.values() for id_, text in rows if text is not None]
    return [each for each in known if len(each[1]) > 20], [each for each in known if len(each[1]) <= 20]


def _index_of_texts(path: Path, method: Any, distance: int, options: Mapping[str, int]) -> None:
    """128 bits, ids that are strings, two segments, short texts, removed documents, a file of the recipe, and a state."""
    recipe = nd.Recipe(stop_words=(word_list(STOP_WORDS, b"the\nof\n", "stop list"),))
    documents, short = _documents()
    made = fingerprints_of([text for _, text in documents], recipe).values
    digests = fingerprints_of([text for _, text in short], recipe).digests
    index = nd.Index(max_distance=distance, bits=128, method=method, recipe=recipe, **options)
    copies = 2  # 18 documents: a segment of one is not merged with them
    ids = [f"{id_} {copy}" for copy in range(copies) for id_, _ in documents]
    values = np.concatenate([made ^ np.uint64(copy << 62) for copy in range(copies)])
    index.add(ids, values)
    index.add_short([str(id_) for id_, _ in short], digests)
    index.save(path)
    late = nd.Index.open(path)
    late.add([str(id_) for id_, _ in documents[:1]], made[:1])
    late.remove(["bread 1", "10"])
    late.state = {"note": "渡轮"}
    late.save()
    queries = [(row, bits) for row in made for bits in ((), (127,), (1, 64, 100))]
    _expect(
        path,
        late,
        [*zip(ids, values, (id_ == "bread 1" for id_ in ids), strict=True), (str(documents[0][0]), made[0], False)],
        [(str(id_), digest, id_ == 10) for (id_, _), digest in zip(short, digests, strict=True)],
        queries,
    )


def _index_of_numbers(path: Path, method: Any, distance: int, options: Mapping[str, int]) -> None:
    """64 bits and ids that are integers."""
    documents, _ = _documents()
    values = rows_of(nd.fingerprint([text for _, text in documents], recipe="default-64"))
    near = [row ^ _mask(FLIPPED[number % len(FLIPPED)], 1) for number, row in enumerate(values)]
    values, ids = np.concatenate([values, near]), [5 * number - 3 for number in range(2 * len(values))]
    index = nd.Index(max_distance=distance, method=method, recipe="default-64", **options)
    index.add(ids, values)
    index.save(path)
    _expect(path, index, [(id_, row, False) for id_, row in zip(ids, values, strict=True)], [], [
        (row, bits) for row in values[:4] for bits in FLIPPED
    ])  # fmt: skip


def _mask(bits: Sequence[int], words: int) -> Any:
    found = sum(1 << (64 * words - 1 - bit) for bit in bits)
    return np.array([found >> 64 * (words - 1 - word) & (2**64 - 1) for word in range(words)], np.uint64)


def _expect(path: Path, index: nd.Index, documents: Any, short: Any, queries: Any) -> None:
    """Write what the index holds beside its folder, with the answers of the index in memory."""
    words = index.bits // 64
    asked = [row ^ _mask(bits, words) for row, bits in queries]
    answers = [[list(each) for each in index.query(one if words > 1 else one[0])] for one in asked]
    values = {
        "bits": index.bits,
        "max_distance": index.max_distance,
        "method": index.method,
        "options": index.options,
        "recipe": index.recipe.digest() if index.recipe else None,
        "is_exact": index.is_exact,
        "state": index.state,
        "documents": [[id_, as_hex(row), bool(removed)] for id_, row, removed in documents],
        "short": [[id_, as_hex(digest), bool(removed)] for id_, digest, removed in short],
        "queries": [[as_hex(one), found] for one, found in zip(asked, answers, strict=True)],
    }
    write_json(path.with_name(f"{path.name}.json"), values)


# ------------------------------------------------------------------------------------------------------------------ the stages


DIGITS: dict[str, Digits] = {"csv": "hexadecimal", "tsv": "signed", "jsonl": "decimal", "txt": "binary"}
"""How fingerprints for other programs are written, by the ending of the file."""


def write_fingerprints(folder: Path) -> None:
    """Fingerprint files of 128, 100 and 64 bits, and fingerprints for other programs."""
    names = write_texts(folder)
    values: dict[str, Any] = {}
    for bits in (128, 100, 64):
        recipe = nd.Recipe(bits=bits, max_distance=bits // 7)
        nd.fingerprint_files(names, f"bits-{bits}.parquet", recipe=recipe, on_error="skip", value=["id"], threads=1)
        values[f"bits-{bits}.parquet"] = [
            {
                "id": None if text is None else str(id_),
                "id_is_string": text is None or isinstance(id_, str),
                "fingerprint": as_hex(found.values[0] if text is not None else (0,) * recipe.words),
                "short": text is None or int(found.tokens[0]) < recipe.min_tokens,
                "tokens": int(found.tokens[0]) if text is not None else -1,
                "length": len(text or ""),
                "digest": as_hex(found.digests[0]),
                "value:id": None if text is None else json.dumps(id_, ensure_ascii=False),
            }
            for rows in TEXTS.values()
            for id_, text in rows
            for found in [fingerprints_of([text or ""], recipe)]
        ]
    known = [(id_, text) for rows in TEXTS.values() for id_, text in rows if text is not None]
    written: dict[str, Any] = {"recipe": nd.Recipe(bits=100), "on_error": "skip", "threads": 1, "overwrite": True}
    for ending, digits in DIGITS.items():
        nd.fingerprint_files(names, f"digits.{ending}", digits=digits, **written)
    numbers = [int(as_hex(row), 16) for row in fingerprints_of([text for _, text in known], nd.Recipe(bits=100)).values]
    values["digits"] = [[id_, number] for (id_, _), number in zip(known, numbers, strict=True)]
    _keep(folder, {*values} | {f"digits.{ending}" for ending in DIGITS} | {*names})
    write_json(folder / "expected.json", values)


def write_pairs(folder: Path) -> None:
    """Pairs among two files as JSON lines, and those between them as Parquet."""
    names = write_texts(folder)
    options: dict[str, Any] = {"method": "simhash", "max_distance": 30, "threads": 1, "on_error": "skip"}
    nd.pair_files(names, "pairs.jsonl", min_similarity=0.4, **options)
    nd.pair_files(names[:1], "pairs.parquet", against=names[1:], min_similarity=0, **options)
    found = nd.match([text or "" for _, text in _all_texts()], min_similarity=0.4, method="simhash", max_distance=30)
    within = [pair | {name: str(pair[name]) for name in ("left_id", "right_id")} for pair in _pairs_within(30)]
    expected = {"pairs.jsonl": _pairs_of(found), "pairs.parquet": within}
    _keep(folder, {"pairs.jsonl", "pairs.parquet", "pairs.jsonl.summary.json", "pairs.parquet.summary.json", *names})
    write_json(folder / "expected.json", expected)


def _all_texts() -> list[tuple[str | int, str | None]]:
    return [row for rows in TEXTS.values() for row in rows]


def _place(row: int) -> tuple[str, int]:
    sizes = {name: len(rows) for name, rows in TEXTS.items()}
    for name, size in sizes.items():
        if row < size:
            return name, row
        row -= size
    raise IndexError(row)


def _pair(left: int, right: int, distance: int, similarity: float | None) -> dict[str, Any]:
    rows = _all_texts()
    (left_file, left_row), (right_file, right_row) = _place(left), _place(right)
    return {
        "left_id": rows[left][0],
        "right_id": rows[right][0],
        "distance": distance,
        "similarity": similarity,
        "left_file": left_file,
        "left_row": left_row,
        "right_file": right_file,
        "right_row": right_row,
    }


def _pairs_of(found: Any) -> list[dict[str, Any]]:
    rows = _all_texts()
    listed = zip(
        found.left.tolist(), found.right.tolist(), found.distance.tolist(), found.similarity.tolist(), strict=True
    )
    return [_pair(*each) for each in listed if None not in (rows[each[0]][1], rows[each[1]][1])]


def _pairs_within(distance: int) -> list[dict[str, Any]]:
    """Pairs between the files by distance alone, and those of equal short texts, whose similarity is known."""
    rows, recipe = _all_texts(), nd.Recipe()
    made = fingerprints_of([text or "" for _, text in rows], recipe)
    numbers = [int(as_hex(row), 16) for row in made.values]
    is_short = [int(tokens) < recipe.min_tokens for tokens in made.tokens]
    found, border = [], len(TEXTS["names.jsonl"])
    for left in range(border):
        for right in range(border, len(rows)):
            apart = (numbers[left] ^ numbers[right]).bit_count()
            equal = as_hex(made.digests[left]) == as_hex(made.digests[right])
            if is_short[left] and is_short[right] and equal:
                found.append(_pair(left, right, apart, 1.0))
            elif apart <= distance and not (is_short[left] or is_short[right]):
                found.append(_pair(left, right, apart, None))
    return found


VOLATILE = (
    "seconds",
    "read_bytes",
    "written_bytes",
    "peak_memory_bytes",
    "peak_temporary_bytes",
    "temporary_limit_bytes",
    "versions",
    "memory",
)
"""Of a summary: what depends on the machine and on the run."""


def write_clusters(folder: Path) -> None:
    """A cluster file, with a rejected row."""
    names = write_texts(folder)
    options: dict[str, Any] = {"method": "simhash", "max_distance": 30, "min_similarity": 0.4}
    nd.fingerprint_files(names, "prints.parquet", on_error="skip", threads=1)
    nd.pair_files(names, "pairs.jsonl", on_error="skip", threads=1, **options)
    nd.cluster_files("pairs.jsonl", "clusters.parquet", documents="prints.parquet")
    result = nd.deduplicate([text or f"row {row}" for row, (_, text) in enumerate(_all_texts())], **options)
    _keep(folder, {"clusters.parquet", *names})
    write_json(folder / "expected.json", {"clusters.parquet": _clusters_of(result)})


def _clusters_of(result: Any) -> list[dict[str, Any]]:
    """A row for each member of a cluster, from the results of a run over the same texts in memory."""
    rows, listed = _all_texts(), []
    duplicates = {row["row"]: row for row in result.duplicates.to_pylist()}
    for member in result.clusters.to_pylist():
        row, survivor = member["row"], member["survivor_row"] if "survivor_row" in member else member["survivor_id"]
        found = duplicates.get(row)
        (file, file_row), (survivor_file, survivor_file_row) = _place(row), _place(survivor)
        listed.append(
            {
                "id": str(rows[row][0]),
                "cluster_id": member["cluster_id"],
                "survivor_id": str(rows[survivor][0]),
                "id_is_string": isinstance(rows[row][0], str),
                "row": row,
                "survivor_row": survivor,
                "file": file,
                "file_row": file_row,
                "survivor_file": survivor_file,
                "survivor_file_row": survivor_file_row,
                "similarity": found["similarity"] if found else None,
                "distance": found["distance"] if found else None,
                "exact": found["exact"] if found else False,
                "matched_row": survivor if found else None,
                "matched_similarity": found["similarity"] if found else None,
            }
        )
    return listed


def write_frequencies(folder: Path) -> None:
    """Document frequencies of the texts."""
    names = write_texts(folder)
    nd.fit_files(names, "counts.parquet", on_error="skip", threads=1)
    known = [text for _, text in _all_texts() if text is not None]
    counted: dict[str, int] = {}
    for text in known:
        for feature, _ in nd.keywords([text], recipe=nd.Recipe(weights="uniform"))[0]:
            counted[feature] = counted.get(feature, 0) + 1
    _keep(folder, {"counts.parquet", *names})
    write_json(
        folder / "expected.json",
        {"documents": len(known), "features": sorted(_tokens(each) for each in counted.items())},
    )


def _tokens(counted: tuple[str, int]) -> tuple[list[str], int]:
    """A feature as its tokens: a word, or two Han or Kana characters with a space between them."""
    feature, count = counted
    return feature.split(" "), count


# ------------------------------------------------------------------------------------------------------------------ the store


_STOP_LIST = word_list(STOP_WORDS, b"the\nof\n", "stop list")
STORES: dict[str, dict[str, Any]] = {
    "exact": {"min_similarity": 0.6, "floor": 0.3},
    "exact-cosine": {"min_similarity": 0.8, "similarity": "cosine", "keep": "max:rank"},
    "exact-texts": {"min_similarity": 0.5, "floor": 0.2, "texts": True},
    "exact-edit": {"min_similarity": 0.5, "similarity": "edit", "keep": "longest"},
    "minhash": {"method": "minhash", "min_similarity": 0.6, "recipe": nd.Recipe(bits=64)},
    "simhash": {
        "method": "simhash",
        "min_similarity": 0,
        "recipe": nd.Recipe(max_distance=30, stop_words=(_STOP_LIST,)),
    },
}
"""By the folder: the options of a store."""
STORED: dict[str, list[tuple[str | int, str, Any]]] = {
    "first": [
        ("ferry", FERRY.format("Sunday"), {"rank": 2, "source": "timetable"}),
        ("ferry, again", FERRY.format("Monday"), {"rank": 1}),
        (3, BREAD.format("brown"), None),
        (4, CLOCK, {"rank": 0.5, "source": "渡轮"}),
        (5, CLOCK, None),
        (
            "4",
            FERRY.format("Sunday").replace(
                "leaves the old harbour at", "is late, and nobody at the harbour knows why, by"
            ),
            None,
        ),
        ("渡轮", TEXTS["names.jsonl"][4][1] or "", ["a", {"b": None}]),
        (-11, TEXTS["numbers.jsonl"][4][1] or "", None),
        ("short", "Good morning", None),
        ('no "words"', "", None),
    ],
    "second": [
        ("rye", BREAD.format("brown").replace("flour", "rye flour").replace("an hour", "two hours"), {"rank": 7}),
        ("a clock", CLOCK.upper(), None),
        (
            "tides",
            "High water comes some fifty minutes later every day, for the moon has moved on; low water lies between.",
            None,
        ),
    ],
    "third": [
        ("tides", "Neap tides come with the half moon, and spring tides with the full moon and with the new one.", None)
    ],
}
"""Ids, texts and metadata, in the order of adding: the second ones expire, the third update a document that is kept."""
ASKED = (
    FERRY.format("Sunday"),
    FERRY.format("Monday"),
    FERRY.format("Friday"),
    BREAD.format("black"),
    CLOCK[:-4],
    "good morning!",
    "",
)
EXPIRES = 1_900_000_000.0


@contextmanager
def _a_clock() -> Iterator[None]:
    """Times that are the same whenever the vectors are made: each a quarter of a second later. And identities of stores."""
    times = (1_800_000_000 + tick / 4 for tick in range(1_000_000))
    with mock.patch("time.time", side_effect=times), mock.patch("secrets.token_hex", return_value="6e65617264757021"):
        yield


def write_stores(folder: Path) -> None:
    """A store for each method."""
    for name in STORES:
        _store(folder / name)


def _store(path: Path) -> None:
    """A store that was opened twice, with documents that were removed; the one of cosines was compacted in between, and the one
    with texts has judgements.
    """
    with (
        _a_clock(),
        mock.patch.multiple("neardup.store.candidates.exact", MIN_DOCUMENTS_LEARNED=5, MAX_DOCUMENTS_MOVED=0),
    ):
        texts: dict[str | int, str] = {}
        with nd.Store(path, threads=1, **STORES[path.name]) as store:
            _add(store, "first", texts, state={"offset": 10})
            store.remove(["short"])
            _add(store, "second", texts, expires=EXPIRES)
        if path.name == "exact-cosine":
            with nd.Store(path, threads=1) as store:
                store.compact()
        with nd.Store(path, threads=1) as store:
            _add(store, "third", texts, state={"offset": 14, "渡轮": [1.5, None]})
            if store.info().texts:
                store.judge(next(pair for pair in store.review() if pair.kind == "removed"), same=True)
                store.judge(("ferry", 3), same=False)
            write_json(path.with_name(f"{path.name}.json"), _expected(store, texts))


def _add(store: nd.Store, part: str, texts: dict[str | int, str], **given: Any) -> None:
    ids, contents, metadata = (list(column) for column in zip(*STORED[part], strict=True))
    texts |= zip(ids, contents, strict=True)
    store.check_and_add_many(ids, contents, metadata=metadata, **given)


def _expected(store: nd.Store, texts: Mapping[str | int, str]) -> dict[str, Any]:
    """What the store holds, by the texts, and what it answers while it is open."""
    return {
        "options": {name: value for name, value in STORES[store.path.name].items() if name != "recipe"},
        "recipe": store.recipe.digest(),
        "state": store.state,
        "documents": [
            {**_kept(store, id_), **_of_text(store, text)} for id_, text in texts.items() if store.get(id_) is not None
        ],
        "questions": [[text, _answer(store.check(text))] for text in ASKED],
        **_reviewed(store),
    }


def _reviewed(store: nd.Store) -> dict[str, Any]:
    """What a store with texts has besides."""
    if not store.info().texts:
        return {}
    removed = [[each.id, each.duplicate_of, each.text] for each in reversed(store.recent())]
    judgements = [
        {
            "kind": each.kind, "left": each.left.id, "right": each.right.id, "same": each.same, "judged": each.judged,
            "similarity": each.similarity, "distance": each.distance, "texts": [each.left.text, each.right.text],
        }
        for each in store.judgements()
    ]  # fmt: skip
    return {"removed": removed, "judgements": judgements}


def _kept(store: nd.Store, id_: str | int) -> dict[str, Any]:
    found = store.get(id_)
    assert found is not None
    return {name: getattr(found, name) for name in ("id", "first_seen", "last_seen", "expires", "metadata")}


def _of_text(store: nd.Store, text: str) -> dict[str, Any]:
    """What the files have of a text, made of the text."""
    made = store._files.texts([text])
    layout = store._files.layout
    values: dict[str, Any] = {
        "text": text,
        "digest": as_hex(made.prints.digests[0]),
        "tokens": int(made.prints.tokens[0]),
        "fingerprint": as_hex(rows_of(made.prints.values)[0]),
    }
    for kind in layout.kinds:
        elements = getattr(made, kind)
        values[kind] = " ".join(f"{value:016x}" for value in elements.values.tolist())
        if layout.weighted:
            values[f"{kind}_weights"] = elements.weights.tolist()
    if made.signatures is not None:
        values["signature"] = " ".join(f"{value:08x}" for value in made.signatures.values[0].tolist())
    return values


def _answer(found: nd.StoreAnswer) -> dict[str, Any]:
    matches = [[match.id, match.similarity, match.distance] for match in found.matches]
    return {"is_new": found.is_new, "exact": found.exact, "matches": matches}


def write_exports(folder: Path) -> None:
    """Exports of the stores of the vectors."""
    write_stores(Path("stores"))
    for name in STORES:
        with nd.Store(Path("stores") / name, mode="r") as store:
            store.export(folder / name)
        shutil.copy(Path("stores") / f"{name}.json", folder)
    shutil.rmtree("stores")


def _keep(folder: Path, names: Iterable[str]) -> None:
    """Remove what was made on the way."""
    for path in folder.iterdir():
        if path.name not in names:
            path.unlink()


FORMATS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "index": (f"{MANIFEST_FORMAT}-{SEGMENT_FORMAT}", write_indexes),
    "fingerprints": (FINGERPRINTS_FORMAT, write_fingerprints),
    "pairs": (str(PAIRS_FORMAT), write_pairs),
    "clusters": (str(CLUSTERS_FORMAT), write_clusters),
    "frequencies": (FREQUENCIES_FORMAT, write_frequencies),
    "store": (str(RECORD_FORMAT), write_stores),
    "export": (str(EXPORT_FORMAT), write_exports),
}
"""By format: its version (of an index, those of the manifest and of the segments), and what writes its vectors into a folder."""


def write_vectors(name: str, folder: Path) -> None:
    """Write the vectors of a format in a new folder. Files are named relative to it, so that they name no machine."""
    folder.mkdir(parents=True)
    before = Path.cwd()
    os.chdir(folder)
    try:
        FORMATS[name][1](Path())
    finally:
        os.chdir(before)


if __name__ == "__main__":
    for format_name, (version, _) in FORMATS.items():
        target = VECTORS / format_name / version
        if target.exists():
            print(f"{format_name} {version}: there already")
            continue
        try:
            write_vectors(format_name, target)
        except BaseException:
            shutil.rmtree(target)
            raise
        print(f"{format_name} {version}: written")
