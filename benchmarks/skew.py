"""Skew: what the largest task of each stage of the engines' flow has to do beside the median one, on corpora made to be uneven.

    python benchmarks/skew.py [--quick] [--output FILE]

The flow runs on the serial engine with as many buckets as a cluster would have. Beside it stands, computed and not run, what
two joins of the literature would do with the same documents: the prefix join of Vernica, Carey and Li 2010, whose tasks list all
pairs of the documents with a prefix element in common; and all pairs of random groups. Fier and others 2018 report that prefix
joins fail on uneven corpora.
"""

import math
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import measure
from neardup.engines import flow
from neardup.engines.job.local_engine import Files, SerialEngine
from neardup.engines.job_options import Limits, Work
from neardup.engines.pairing import blocks as tiles
from neardup.engines.stages import Part, Stage
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe

BUCKETS = 64
RANDOM_GROUPS = next(groups for groups in range(BUCKETS) if groups * (groups + 1) // 2 >= BUCKETS)
"""So many random groups make as many tasks as there are buckets, or a few more."""
PART = 10_000
"""Documents of a part of the input."""
LETTERS, WORD = 8, 9
"""Of a word, and with the space after it."""
SHARE = 0.1
"""Of all seconds: stages that take as much are told."""
SEED = 20_100
OPTIONS = {"method": "exact", "min_similarity": 0.8}


class Observed(SerialEngine):
    """A serial engine that notes what each task gets.

    Attributes:
        tasks: of each stage with buckets, its name, seconds, and for each bucket its rows and seconds.
        group: documents of the largest group with a prefix element in common, copies included.
        in_tiles: pairs whose bitmaps are compared, as tiles hold them.
    """

    def __init__(self, folder: Path, parts: Callable[[], Iterator[Part]]) -> None:
        super().__init__(folder, parts, buckets=BUCKETS)
        self.tasks: list[tuple[str, float, list[int], list[float]]] = []
        self.group = self.in_tiles = 0
        self._copies: dict[int, int] = {}

    def run(self, stage: Stage, *inputs: Files) -> dict[str, Files]:
        """See `SerialEngine`."""
        rows: list[int] = []
        begun: list[float] = []
        arrived: list[float] = []

        def work(*tables: pa.Table) -> Any:
            arrived.append(time.monotonic())
            rows.append(sum(map(len, tables)))
            if stage.name in NOTED and len(tables[0]):
                NOTED[stage.name](self, tables[0])
            begun.append(time.monotonic())
            return stage.work(*tables)

        done = super().run(replace(stage, work=work), *inputs)
        self.measured[-1].seconds -= sum(begun) - sum(arrived)
        if len(rows) > 1:
            seconds = np.subtract([*arrived[1:], time.monotonic()], begun).tolist()
            self.tasks.append((stage.name, self.measured[-1].seconds, rows, seconds))
        return done

    def note_classes(self, documents: pa.Table) -> None:
        """How many documents each leader stands for."""
        keys = np.stack([documents.column(name).to_numpy() for name in ("class_high", "class_low")], axis=1)
        doc = documents.column("doc").to_numpy()
        _, number, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        leader = np.full(len(counts), np.iinfo(np.int64).max)
        np.minimum.at(leader, number.ravel(), doc)
        some = np.flatnonzero(counts > 1)
        self._copies |= dict(zip(leader[some].tolist(), counts[some].tolist(), strict=True))

    def note_postings(self, postings: pa.Table) -> None:
        """The largest group."""
        key, doc = (postings.column(name).to_numpy() for name in ("key", "doc"))
        counts = np.ones(len(doc))
        for at in np.flatnonzero(np.isin(doc, list(self._copies))).tolist():
            counts[at] = self._copies[int(doc[at])]
        _, number = np.unique(key, return_inverse=True)
        self.group = max(self.group, int(np.bincount(number, counts).max()))

    def note_tiles(self, rows: pa.Table) -> None:
        """Pairs of rows that lead with later ones."""
        key, tile, at = (rows.column(name).to_numpy() for name in ("key", "tile", "at"))
        leads = rows.column("leads").to_numpy()
        first, second = tile >> tiles.TILE_BITS, tile & ((1 << tiles.TILE_BITS) - 1)
        is_first, is_own = at // Limits().documents_per_block == first, first == second
        _, number = np.unique(np.stack([key, tile], axis=1), axis=0, return_inverse=True)
        number = number.ravel()
        leading, others = (np.bincount(number, flags) for flags in (leads & is_first, ~is_first))
        order = np.lexsort((at, number))
        later = np.empty(len(order), np.int64)
        ends = np.cumsum(np.bincount(number))
        later[order] = ends[number[order]] - np.arange(len(order)) - 1
        own = int(later[leads & is_own].sum())
        self.in_tiles += int((leading * others).sum()) + own


READINGS = {"documents", "keys", "texts again", "ids"}
"""Stages that have a task for each part of the input."""
NOTED = {"equal": Observed.note_classes, "pairs": Observed.note_postings, "tiles": Observed.note_tiles}
"""What is noted of the rows of a stage; its time does not count."""


def words(chance: np.random.Generator, n: int) -> bytes:
    """Words that hardly any other text has, with a space after each."""
    letters = chance.integers(ord("a"), ord("z") + 1, (n, WORD), np.uint8)
    letters[:, LETTERS] = ord(" ")
    return letters.tobytes()


def texts(content: bytes, size: int) -> pa.Array:
    """A column of texts of so many bytes each."""
    offsets = np.arange(len(content) // size + 1, dtype=np.int64) * size
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def unlike(chance: np.random.Generator, n: int, size: int) -> pa.Array:
    """So many texts of so many words, which have nothing in common."""
    return texts(words(chance, n * size), size * WORD)


def parts_of(columns: list[pa.Array]) -> Iterator[Part]:
    """The parts of the input: a column of texts each."""
    for number, column in enumerate(columns):
        nothing = pa.nulls(len(column), pa.large_string())
        ids = pa.array(np.arange(len(column))).cast(pa.large_string())
        batch = pa.record_batch([column, ids, nothing, nothing], names=["text", "id", "within", "value"])
        yield Part(number, iter([batch]))


def divided(column: pa.Array, size: int = PART) -> list[pa.Array]:
    """A column in pieces for the parts of the input."""
    return [pa.concat_arrays([column.slice(at, size)]) for at in range(0, len(column), size)]


def shared_element(share: int) -> list[pa.Array]:
    """100,000 texts of ten words, of which three in a row are the same in all."""
    chance, n = np.random.default_rng(SEED), 100_000 // share
    letters = np.frombuffer(words(chance, 10 * n), np.uint8).reshape(n, 10 * WORD).copy()
    letters[:, 3 * WORD : 6 * WORD] = np.frombuffer(words(chance, 3), np.uint8)
    return divided(texts(letters.tobytes(), 10 * WORD))


def repeated(share: int) -> list[pa.Array]:
    """One text of 60 words 1,000,000 times, and 10,000 others."""
    chance, size = np.random.default_rng(SEED + 1), 60
    same = texts(words(chance, size) * (PART // share), size * WORD)
    return [unlike(chance, PART // share, size), *[same] * 100]


def family(share: int) -> list[pa.Array]:
    """17,000 texts of 100 words of which each differs from one text in one word, and 17,000 others, in turns."""
    chance, n, size = np.random.default_rng(SEED + 2), 17_000 // share, 100
    near = np.tile(np.frombuffer(words(chance, size), np.uint8), n).reshape(n, size, WORD)
    changed = np.frombuffer(words(chance, n), np.uint8).reshape(n, WORD)
    near[np.arange(n), chance.integers(0, size, n)] = changed
    others = np.frombuffer(words(chance, size * n), np.uint8).reshape(n, size, WORD)
    return divided(texts(np.stack([near, others], axis=1).tobytes(), size * WORD))


def long_text(share: int) -> list[pa.Array]:
    """A text of 200 MB, and 1,000 others of 100 words."""
    chance, size = np.random.default_rng(SEED + 3), 200_000_000 // share // WORD
    return [unlike(chance, 1000, 100), unlike(chance, 1, size)]


CORPORA = {
    "shared element": (shared_element, OPTIONS),
    "shared element, in all prefixes": (shared_element, {**OPTIONS, "min_similarity": 0.1}),
    "repeated text": (repeated, OPTIONS),
    "family": (family, OPTIONS),
    "long text": (long_text, OPTIONS),
}
"""Each for a share of it, with the options of its run."""


def measured(columns: list[pa.Array], options: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds, comparisons and the rows of tasks of a run, and what other joins would do."""
    with tempfile.TemporaryDirectory() as folder:
        engine = Observed(Path(folder), lambda: parts_of(columns))
        decided = flow.deduplicate(engine, Work.of(Recipe(), DedupOptions(**options)))
        removed = decided.results.count
    total = sum(each.seconds for each in engine.measured)
    documents = sum(map(len, columns))
    listed = sum(each.rows.get("pairs", 0) for each in engine.measured if each.name in ("pairs", "wave", "tiles"))
    return {
        "documents": documents,
        "text_bytes": sum(column.nbytes - 8 * (len(column) + 1) for column in columns),
        "removed": removed,
        "seconds": measure.rounded(total),
        "pairs_listed": listed,
        "pairs_in_tiles": engine.in_tiles,
        "pairs_of_texts_compared": sum(each.rows.get("edges", 0) for each in engine.measured),
        "texts_sent": sum(each.rows.get("arrivals", 0) for each in engine.measured),
        "stages": [told(*task) for task in engine.tasks if task[1] >= SHARE * total],
        "reading_seconds": {
            each.name: measure.rounded(each.seconds, 3)
            for each in engine.measured
            if each.seconds >= SHARE * total and each.name in READINGS
        },
        "prefix_join": {"largest_group": engine.group, "pairs_of_largest_task": math.comb(engine.group, 2)},
        "random_groups": {
            "groups": RANDOM_GROUPS,
            "tasks": math.comb(RANDOM_GROUPS + 1, 2),
            "comparisons": math.comb(documents, 2),
            "comparisons_of_largest_task": math.ceil(documents / RANDOM_GROUPS) ** 2,
            "rows_sent": RANDOM_GROUPS * documents,
        },
    }


def told(name: str, seconds: float, rows: list[int], each: list[float]) -> dict[str, Any]:
    """A stage in a result file."""
    return {
        "name": name,
        "seconds": measure.rounded(seconds, 3),
        "rows_of_largest": max(rows),
        "rows_of_median": statistics.median(rows),
        "seconds_of_longest": measure.rounded(max(each), 3),
        "seconds_of_median": measure.rounded(statistics.median(each), 3),
    }


def main() -> None:
    """Measure, and write the results."""
    given = measure.arguments(__doc__ or "", "skew")
    share = 50 if given.quick else 1
    record: dict[str, Any] = {
        "environment": measure.environment(("pyarrow",)),
        "buckets": BUCKETS,
        "seed": SEED,
        "corpora": {},
    }
    measured(family(500), OPTIONS)  # kernels are compiled
    for name, (corpus, options) in CORPORA.items():
        record["corpora"][name] = {"options": options, **measured(corpus(share), options)}
        print(name, record["corpora"][name], flush=True)
    record["peak_memory_bytes"] = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    measure.write_json(given.output, record)


if __name__ == "__main__":
    main()
