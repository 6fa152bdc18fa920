"""The answer of a cluster is that of one machine, however the rows of a corpus lie in files, and for every corpus with its traps."""

import pytest

from agreement import corpora
from engines.cluster_runs import check

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]  # of the clusters
PARTITIONINGS = {
    "one file": {"files": 1},
    "dealt to three files": {"files": 3},
    "eight files in order": {"files": 8, "dealt": False},
    "shuffled": {"shuffled": True},
}
OPTIONS = [
    {"method": "exact", "min_similarity": 0.6},
    {"method": "exact", "min_similarity": 0.6, "cluster": "components", "keep": "last"},
    {"method": "minhash", "min_similarity": 0.7, "keep": "longest"},
    {"method": "simhash", "max_distance": 24, "within": "language"},
    {"method": "exact", "min_similarity": 0.6, "keep": "max:score", "within": "share"},
    {"method": "exact", "min_similarity": 0.6, "keep": "min:price", "within": "day"},
    {"method": "exact", "min_similarity": 0.6, "keep": "max:big", "within": "score"},
    {"method": "exact", "min_similarity": 0.6, "keep": "min:score", "within": "flag"},
    {"method": "exact", "min_similarity": 0.6, "keep": "max:at", "within": "label"},
]
REFUSED = ("repeated ids", "ids of both kinds")
CORPORA = [name for name in corpora.NAMES if name not in REFUSED]
QUICK = {
    ("spark", "reference", "eight files in order"),
    ("ray", "reference", "eight files in order"),
    ("ray", "mixture", "dealt to three files"),
    ("ray", "chains", "one file"),
    ("spark", "spaceless", "one file"),
    ("ray", "spaceless", "one file"),
}
EVERYWHERE = {("ray", "equal sets", "dealt to three files"), ("ray", "mixture", "shuffled")}
"""Those of which every stage runs as tasks."""


def cases():
    for engine in ("spark", "ray"):
        for number, (name, partitioning) in enumerate((a, b) for a in CORPORA for b in PARTITIONINGS):
            options = OPTIONS[(number + number // len(PARTITIONINGS)) % len(OPTIONS)]
            options |= {"recipe": "all-scripts"} if name == "spaceless" else {}
            marks = [] if (engine, name, partitioning) in QUICK | EVERYWHERE else [pytest.mark.long]
            words = f"{engine}, {name}, {partitioning}, {options['method']}"
            yield pytest.param(engine, name, partitioning, options, id=words, marks=marks)


@pytest.mark.parametrize(("engine", "name", "partitioning", "options"), list(cases()), indirect=["engine"])
def test_the_answer_is_that_of_one_machine(engine, tmp_path, name, partitioning, options):
    small = 0 if (engine.name, name, partitioning) in EVERYWHERE else 1 << 24
    stages = check(engine, tmp_path, name, options, small=small, **PARTITIONINGS[partitioning])
    ascends = partitioning in ("one file", "eight files in order") or len(corpora.make(name).rows) < 2
    sorts = not ascends or options.get("keep") == "longest" or ":" in options.get("keep", "")
    assert ("rank" in {stage.name for stage in stages}) == sorts
