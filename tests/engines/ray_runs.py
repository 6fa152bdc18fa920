"""Runs of a job on Ray on the documents of a corpus, and the answer of one machine."""

import neardup as nd
from agreement import corpora
from engines.corpus_files import OPTIONS, numbered, same, written
from neardup import ray as on_ray
from neardup.engines.job import cluster_engine


def run(dataset, work, **options):
    """A job."""
    return on_ray.deduplicate(dataset, order="n", work=str(work), **(OPTIONS | options))


def survivors(done):
    return sorted(row["n"] for row in done.survivors.select_columns("n").iter_rows())


def check(tmp_path, name, options, files=3, *, small=0, shuffled=False, dealt=True):
    """Compare a run on Ray with `deduplicate`. `small`: bytes up to which the driver runs a stage. Returns its stages."""
    import ray

    corpus = corpora.make(name)
    rows, against = numbered(corpus.rows), numbered(corpus.reference) or None
    expected = nd.deduplicate(rows, against=against, **options)
    dataset = ray.data.read_parquet(written(tmp_path / "in", rows, files, dealt=dealt))
    if shuffled:
        dataset = dataset.random_shuffle(seed=7)
    reference = ray.data.read_parquet(written(tmp_path / "ref", against, 1)) if against else None
    before, cluster_engine.SMALL = cluster_engine.SMALL, small
    try:
        done = on_ray.deduplicate(dataset, order="n", against=reference, work=str(tmp_path / "work"), **options)
        assert survivors(done) == [row["n"] for row in expected.survivors]
        found = {row["id"]: row for row in done.duplicates.iter_rows()}
        assert done.summary.survivors == len(expected.survivors)
    finally:
        cluster_engine.SMALL = before
    lines = expected.duplicates.to_pylist()
    assert found.keys() == {line["id"] for line in lines}
    for line in lines:
        columns = ["survivor_id", "exact", "distance"] + ["similarity"] * (options.get("cluster") != "components")
        assert all(same(found[line["id"]][column], line[column]) for column in columns), (line, found[line["id"]])
        assert found[line["id"]]["cluster_id"] == rows[line["cluster_id"]]["id"]
    assert (done.summary.duplicates, done.summary.exact_duplicates, done.summary.clusters) == (
        len(lines), sum(line["exact"] for line in lines), len({line["cluster_id"] for line in lines}))  # fmt: skip
    return done.stages
