"""MinHash de-duplication of others on Ray, each by a Python of its own: data-juicer's operator, and Daft as its guide shows it.

    PYTHON benchmarks/ray_peers.py data-juicer|daft FOLDER OUTPUT

Reads files of Parquet with `place` and `text`, and writes the places of the documents that stay to a file of Parquet. Both have
words of five tokens, 256 values and bands for a similarity of 0.8, and verify nothing. `cluster.py` calls it, and measures.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

MIN_SIMILARITY, VALUES, WORDS = 0.8, 256, 5
BANDS, ROWS = 16, 16
"""Of Daft, which takes any: 0.8 is where they find half of the pairs of such a similarity; data-juicer computes its own."""
CPUS = 2


def on_ray() -> Any:
    """Ray on this machine, of two CPUs."""
    import ray

    ray.init(num_cpus=CPUS, include_dashboard=False, log_to_driver=False, logging_level="error")
    ray.data.DataContext.get_current().enable_progress_bars = False
    return ray


def data_juicer(folder: str) -> Iterator[list[int]]:
    """The operator `ray_bts_minhash_deduplicator`."""
    ray = on_ray()
    from data_juicer.ops.deduplicator.ray_bts_minhash_deduplicator import RayBTSMinhashDeduplicator

    with tempfile.TemporaryDirectory() as work:
        operator = RayBTSMinhashDeduplicator(
            jaccard_threshold=MIN_SIMILARITY, num_permutations=VALUES, window_size=WORDS, lowercase=True, work_dir=work
        )
        stays = operator.run(ray.data.read_parquet(folder))
        for batch in stays.select_columns("place").iter_batches(batch_format="pyarrow"):
            yield batch.column("place").to_pylist()


def daft(folder: str) -> Iterator[list[int]]:
    """Values by `minhash`, bands that are equal, and components of those; the first document of each component stays."""
    on_ray()
    import daft
    from daft import col

    daft.set_runner_ray()
    frame = daft.read_parquet(f"{folder}/*.parquet")
    signed = frame.select("place", col("text").minhash(num_hashes=VALUES, ngram_size=WORDS, seed=1).alias("values"))
    edges: list[tuple[int, int]] = []
    for band in range(BANDS):
        values = [col("values").get(band * ROWS + row).cast(daft.DataType.string()) for row in range(ROWS)]
        key = values[0]
        for each in values[1:]:
            key = key + "," + each
        groups = signed.select("place", key.alias("key")).groupby("key").agg(col("place").list_agg().alias("places"))
        found = groups.where(col("places").list_count() > 1).select("places").to_pydict()["places"]
        edges += [(min(group), place) for group in found for place in group if place != min(group)]
    first = components(edges)
    places = frame.select("place").to_pydict()["place"]
    yield [place for place in places if first.get(place, place) == place]


def components(edges: list[tuple[int, int]]) -> dict[int, int]:
    """The first document of each document's component."""
    first: dict[int, int] = {}

    def root(place: int) -> int:
        while first.get(place, place) != place:
            first[place] = first.get(first[place], first[place])
            place = first[place]
        return place

    for a, b in edges:
        low, high = sorted((root(a), root(b)))
        first[high] = low
    return {place: root(place) for place in first}


PEERS: dict[str, Callable[[str], Iterator[list[int]]]] = {"data-juicer": data_juicer, "daft": daft}


def main() -> None:
    """Run one, and write what stays."""
    name, folder, output = sys.argv[1:]
    places = [place for some in PEERS[name](folder) for place in some]
    pq.write_table(pa.table({"place": pa.array(places, pa.int64())}), output)


if __name__ == "__main__":
    main()
