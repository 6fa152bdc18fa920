"""SCHEMAS of the rows between stages. 64-bit values without a sign travel as signed ones, with the same bits.

A document is known by `doc`: the number of its part of the input, and its row there. A smaller `rank` is preferred. Documents with
equal elements are a class, known by its leader, the most preferred of them.
"""

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.stages import Output

NONE = -1
"""Instead of a `doc`."""
ROW_BITS = 32
"""Of a `doc`, for the row within the part."""
REFERENCE = 1 << 27
"""Parts of a reference have numbers from this one on."""
BEFORE_ALL = 1 << 62
"""Less in the ranks of documents of a reference, which are preferred to all others."""
INT, BOOL, BYTES = pa.int64(), pa.bool_(), pa.large_binary()

_DOCUMENT = {"doc": INT, "rank": INT, "is_reference": BOOL, "digest_high": INT, "digest_low": INT, "print": BYTES}
_OF_DOCUMENT = {"group": INT, "is_long": BOOL, "is_empty": BOOL, "size": INT, "bitmap": BYTES, "site": INT, "cost": INT}
DOCUMENTS = Output(
    pa.schema({"class_high": INT, "class_low": INT, **_DOCUMENT, **_OF_DOCUMENT, "value": pa.large_string()}),
    ("class_high", "class_low"),
)
UNORDERED = Output(DOCUMENTS.schema, ("doc",))
"""Documents that do not know their ranks yet."""
SAMPLE_DIVISIONS = 64
SAMPLE = Output(pa.schema({"division": INT, "element": INT, "documents": INT}), ("division",))
"""Elements by their lowest bits: so many divisions, however many buckets there are, bound what is counted of all."""
COUNTED = Output(pa.schema({"element": INT, "documents": INT}))
_KNOWN = {"group": INT, "print": BYTES, "size": INT, "bitmap": BYTES, "site": INT}
_LEADER = {"rank": INT, "is_reference": BOOL, "has_others": BOOL, **_KNOWN}
LEADERS = Output(pa.schema({"doc": INT, **_LEADER, "has_later": BOOL}), ("doc",))
COPIES = Output(pa.schema({"leader": INT, "doc": INT}), ("leader",))
"""Documents with the text of another one, which leads them."""
MEMBERS = Output(
    pa.schema({"leader": INT, "doc": INT, "is_copy": BOOL, "outcome_rank": INT, "reference": INT}), ("leader",)
)
LISTED_MEMBERS = Output(
    pa.schema({"leader": INT, "doc": INT, "rank": INT, "is_reference": BOOL, "is_long": BOOL, "is_empty": BOOL}),
    ("leader",),
)
"""For lists of pairs: all documents, by the leader of their class, which is one as well."""
HEADS = Output(pa.schema({"leader": INT, "rank": INT, "is_reference": BOOL}), ("leader",))
MARKED = Output(pa.schema({"part": INT, "row": INT}), ("part",))
MARKS = Output(pa.schema({"part": INT, "bits": BYTES}))
_POSTING = {"key": INT, "doc": INT, "position": pa.int32(), "size": pa.int32(), "asks": BOOL}
POSTINGS = Output(pa.schema(_POSTING), ("key",), is_sorted=False)
LARGE_POSTINGS = Output(pa.schema({**_POSTING, "expected": pa.float64()}), ("doc",))
"""With how many pairs a group is expected to have for each of its documents."""
_WAITING = {**_POSTING, "rank": INT, "has_later": BOOL, "part": INT, "is_out": BOOL}
WAITING = Output(pa.schema(_WAITING), ("key",))
REST = Output(pa.schema(_WAITING), ("doc",))
OPEN = Output(pa.schema({"doc": INT, "rank": INT}), ("doc",))
_CROWD = {"key": INT, "doc": INT, "size": pa.int32(), "rank": INT, "has_later": BOOL, "expected": pa.float64()}
CROWDS = Output(pa.schema(_CROWD), ("key",))
"""The documents of large groups, each once, by the value that they must have in common."""
HELD = Output(pa.schema({"doc": INT}), ("doc",))
HELD_TEXTS = Output(pa.schema({"doc": INT, "text": pa.large_string()}), ("doc",), is_text=True)
_PLACED = {"position": pa.int32(), "asks": BOOL, "leads": BOOL, "part": INT}
PLACED = Output(pa.schema({"doc": INT, "key": INT, "at": INT, "blocks": INT, "leading": INT, **_PLACED}), ("doc",))
_IN_TILE = {"group": INT, "is_given": BOOL, "print": BYTES, "size": pa.int32(), "bitmap": BYTES}
TILES = Output(pa.schema({"key": INT, "tile": INT, "at": INT, "doc": INT, **_PLACED, **_IN_TILE}), ("key", "tile"))
_IN_BLOCK = {"rank": INT, "is_given": BOOL, "leads": BOOL, "part": INT, "text": pa.large_string()}
TEXT_TILES = Output(
    pa.schema({"key": INT, "tile": INT, "at": INT, "doc": INT, **_IN_BLOCK}), ("key", "tile"), is_text=True
)
STANDING = Output(pa.schema({"doc": INT, "part": INT, "is_out": BOOL}), ("doc",))
PAIRS = Output(pa.schema({"b": INT, "a": INT}), ("b",), is_sorted=False)
"""Of each, `a` is the smaller document."""
_CHUNK = {"home": INT, "chunk": INT}
VISITS = Output(pa.schema({"doc": INT, **_CHUNK}), ("doc",))
MEETINGS = Output(pa.schema({**_CHUNK, "a": INT, "b": INT}), ("home", "chunk"))
RECORDS = Output(pa.schema({**_CHUNK, "doc": INT, **_LEADER}), ("home", "chunk"), is_sorted=False)
_ENDS = {"p": INT, "q": INT, "p_rank": INT, "q_rank": INT}
EDGES = Output(pa.schema({**_CHUNK, **_ENDS}), ("home", "chunk"), is_sorted=False)
LOCAL_EDGES = Output(pa.schema({"site": INT, **_ENDS}), ("site",), is_sorted=False)
JOURNEYS = Output(pa.schema({"site": INT, "doc": INT, **_CHUNK}), ("site",), is_sorted=False)
NEEDS = Output(pa.schema({"site": INT, "doc": INT, "weight": INT}), ("site",), is_sorted=False)
ARRIVALS = Output(
    pa.schema({**_CHUNK, "doc": INT, "text": pa.large_string()}), ("home", "chunk"), is_text=True, is_sorted=False
)
TEXTS = Output(
    pa.schema({"site": INT, "doc": INT, "text": pa.large_string()}), ("site",), is_text=True, is_sorted=False
)
MATCH_FIELDS = {"similarity": pa.float64(), "distance": INT}
MATCHES = Output(pa.schema({**_ENDS, **MATCH_FIELDS}), ("q",))
MATCHED = Output(pa.schema(_ENDS))
"""Who matches whom, in one bucket."""
UNKNOWN = -1
"""Instead of a distance, if the two documents were not compared."""
LINKS = Output(pa.schema({"x": INT, "x_rank": INT, "survivor": INT, "survivor_rank": INT, **MATCH_FIELDS}), ("x",))
"""Documents that match a survivor, each with each."""
_OUTCOME = {"exact": BOOL, **MATCH_FIELDS}
REMOVED = Output(pa.schema({"doc": INT, "survivor": INT, **_OUTCOME}), ("doc",))
_LABEL = {"doc": INT, "place": INT, "id": pa.large_string()}
_TEXT = {"print": BYTES, "figures": INT}
LABELS = Output(pa.schema({**_LABEL, **_TEXT}), ("doc",))
"""With the fingerprints of near duplicates and of their survivors, and digests of these texts without digits; 0 of others."""
PLACES = Output(pa.schema({"doc": INT, "place": INT, "rank": INT}), ("doc",))
"""Those of a reference come after all others, and are preferred to them."""
LABELED = Output(pa.schema({"survivor": INT, "share": INT, **_LABEL, **_TEXT, **_OUTCOME}), ("survivor", "share"))
"""The duplicates of a survivor that has many come in several shares."""
FIRSTS = Output(pa.schema({"survivor": INT, "share": INT, **_LABEL}), ("survivor",))
"""Of each share, the document that comes first."""
_SURVIVOR = {"survivor_place": INT, "survivor_id": pa.large_string()}
_CLUSTER = {"cluster": INT, "cluster_id": pa.large_string()}
CLUSTERS = Output(
    pa.schema(
        {
            "survivor": INT,
            "share": INT,
            **_SURVIVOR,
            **{f"survivor_{name}": kind for name, kind in _TEXT.items()},
            **_CLUSTER,
        }
    ),
    ("survivor", "share"),
)
RESULTS = Output(
    pa.schema({**_LABEL, "survivor": INT, **_SURVIVOR, **_CLUSTER, **_OUTCOME, "only_digits": BOOL}), ("doc",)
)


def rows_of(docs: Array) -> tuple[Array, Array]:
    """The parts and rows of documents: int64[n], int64[n]."""
    return docs >> ROW_BITS, docs & ((1 << ROW_BITS) - 1)


def of_reference(docs: Array) -> Array:
    """bool[n]: whether documents (int64[n]) are those of a reference."""
    found: Array = docs >= REFERENCE << ROW_BITS
    return found


def ranked_before_all(ranks: Array) -> Array:
    """bool[n]: whether these are ranks (int64[n]) of documents of a reference."""
    found: Array = ranks < -(BEFORE_ALL >> 1)
    return found


def marked(docs: Array) -> pa.Table:
    """Documents (int64[n]) as rows of MARKED."""
    return pa.table(dict(zip(("part", "row"), rows_of(docs), strict=True)), MARKED.schema)


def prints_of(table: pa.Table, name: str = "print") -> Array:
    """The fingerprints, or bitmaps, of a column, uint64[n, words]."""
    content = b"".join(table.column(name).to_pylist())
    words = len(content) // 8 // len(table) if len(table) else 1
    return np.frombuffer(content, np.uint64).reshape(len(table), words)


def bitmaps_of(table: pa.Table, name: str = "bitmap") -> tuple[Array, Array]:
    """The bitmaps of a column, uint64[], and where they begin, int64[n + 1]."""
    content = table.column(name).to_pylist()
    starts = np.cumsum([0, *map(len, content)], dtype=np.int64) // 8
    return np.frombuffer(b"".join(content), np.uint64), starts


def as_prints(values: Array) -> pa.Array:
    """Fingerprints or bitmaps (uint64[n, words]) as a column."""
    n, size = len(values), 8 * values.shape[1]
    data = pa.py_buffer(np.ascontiguousarray(values).tobytes())
    offsets = pa.py_buffer((np.arange(n + 1, dtype=np.int64) * size).tobytes())
    return pa.Array.from_buffers(BYTES, n, [None, offsets, data])
