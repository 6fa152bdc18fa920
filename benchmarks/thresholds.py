"""What does the threshold decide? Documents removed from each open set by `--min-similarity`, with either way of clustering."""

import neardup as nd
from corpora import OPEN_SETS, Texts, data_folder, missing, open_texts
from measure import arguments, environment, table, write_json

THRESHOLDS = tuple(percent / 100 for percent in range(50, 101, 5))
QUICK = (0.5, 0.8, 1.0)
CLUSTERS = ("star", "components")


def removed(texts: Texts, cluster: str, least: float) -> int:
    """How many documents an exact run removes."""
    options = {"method": "exact", "min_similarity": least, "cluster": cluster}
    return int(nd.deduplicate(texts.array, **options).duplicates.num_rows)


def main() -> None:
    """Count, show, and write the results."""
    given = arguments(str(__doc__).splitlines()[0], "thresholds")
    folder = data_folder(given.data)
    thresholds = QUICK if given.quick else THRESHOLDS
    sets = []
    for name in OPEN_SETS:
        lacking = missing(folder, name)
        if folder is None or lacking:
            print(f"skipped: {lacking}")
            continue
        texts = open_texts(folder, name)
        counts = {cluster: [removed(texts, cluster, least) for least in thresholds] for cluster in CLUSTERS}
        sets.append({"texts": texts.as_record(), "removed": counts})
        rows = [[cluster, *map(str, found)] for cluster, found in counts.items()]
        print(table([name, *map(str, thresholds)], rows))
    write_json(given.output, {"environment": environment(), "thresholds": list(thresholds), "sets": sets})


if __name__ == "__main__":
    main()
