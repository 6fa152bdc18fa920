"""The answer on Spark is that of one machine, however the rows of a corpus lie in files, and for every corpus with its traps."""

import pytest

from agreement import corpora
from engines.spark_cluster import missing
from engines.spark_runs import check, local_session

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.filterwarnings("ignore"),  # pyspark's, of versions of pandas and of sockets
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


@pytest.fixture(scope="module")
def session():
    found = local_session(2)
    yield found
    found.stop()


def cases():
    found = []
    for number, (name, partitioning) in enumerate((a, b) for a in CORPORA for b in PARTITIONINGS):
        options = OPTIONS[(number + number // len(PARTITIONINGS)) % len(OPTIONS)]  # each partitioning meets all of them
        is_quick = (name, partitioning) in {("reference", "eight files in order")}
        marks = [] if is_quick else [pytest.mark.long]
        found.append(
            pytest.param(name, partitioning, options, id=f"{name}, {partitioning}, {options['method']}", marks=marks)
        )
    return found


@pytest.mark.parametrize(("name", "partitioning", "options"), cases())
def test_the_answer_is_that_of_one_machine(session, tmp_path, name, partitioning, options):
    stages = check(session, tmp_path, name, options, small=1 << 24, **PARTITIONINGS[partitioning])
    ascends = partitioning in ("one file", "eight files in order") or len(corpora.make(name).rows) < 2
    sorts = not ascends or options.get("keep") == "longest"
    assert ("rank" in {stage.name for stage in stages}) == sorts
