"""The answer on Ray is that of one machine, however the rows of a corpus lie in files, and for every corpus with its traps."""

import pytest

from agreement import corpora
from engines.ray_cluster import missing
from engines.ray_runs import check

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.usefixtures("shared_ray"),
    pytest.mark.filterwarnings("ignore"),  # ray's
]
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
]
REFUSED = ("repeated ids", "ids of both kinds")
CORPORA = [name for name in corpora.NAMES if name not in REFUSED]
QUICK = {("reference", "eight files in order"), ("mixture", "dealt to three files"), ("chains", "one file")}
EVERYWHERE = {("equal sets", "dealt to three files"), ("mixture", "shuffled")}
"""Those of which every stage runs as tasks."""


def cases():
    found = []
    for number, (name, partitioning) in enumerate((a, b) for a in CORPORA for b in PARTITIONINGS):
        options = OPTIONS[(number + number // len(PARTITIONINGS)) % len(OPTIONS)]  # each partitioning meets all of them
        marks = [] if (name, partitioning) in QUICK | EVERYWHERE else [pytest.mark.long]
        found.append(
            pytest.param(name, partitioning, options, id=f"{name}, {partitioning}, {options['method']}", marks=marks)
        )
    return found


@pytest.mark.parametrize(("name", "partitioning", "options"), cases())
def test_the_answer_is_that_of_one_machine(tmp_path, name, partitioning, options):
    small = 0 if (name, partitioning) in EVERYWHERE else 1 << 24
    stages = check(tmp_path, name, options, small=small, **PARTITIONINGS[partitioning])
    ascends = partitioning in ("one file", "eight files in order") or len(corpora.make(name).rows) < 2
    sorts = not ascends or options.get("keep") == "longest"
    assert ("rank" in {stage.name for stage in stages}) == sorts
