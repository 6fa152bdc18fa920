"""Tables of which decisions are the same, and which are safe: stores beside batches, distances without texts."""

from collections.abc import Sequence

from cells import Record, number
from measure import table

CLOSELY = "default"
"""The recipe whose distances are listed one by one."""


def store_orders(record: Record) -> str:
    """For each set, method and similarity: how many decisions of a store were compared with the batch's, and how many differ."""
    rows = []
    for name, of_set in record["sets"].items():
        for way, found in of_set["ways"].items():
            duplicates = found["duplicates"].values()
            rows.append(
                [
                    f"`{name}`",
                    way,
                    f"{found['documents']:,} of {of_set['texts']['documents']:,}",
                    f"{min(duplicates):,}-{max(duplicates):,}",
                    f"{found['runs']:,}",
                    f"{found['decisions']:,}",
                    f"{found['differences']:,}",
                ]
            )
    head = ["set", "method, similarity", "documents", "duplicates, by order", "runs", "decisions", "that differ"]
    return table(head, rows)


def _percents(found: Sequence[tuple[int, int]]) -> str:
    """Parts of wholes; more digits near 100, which it says only if it is."""
    return " / ".join(
        number(100 * part / whole, 2 if 100 * part < 99 * whole else 3) if whole else "none" for part, whole in found
    )


def _shares(recipe: Record, distance: int, of: str, among: str) -> str:
    """In per cent, in each set."""
    return _percents([(each[of][distance], each[among][distance]) for each in recipe["sets"].values()])


def safe_distances(record: Record) -> str:
    """For each recipe: what it removes by its own distance, and by the safe one."""
    rows = []
    for name, recipe in record["recipes"].items():
        safe, last = recipe["safe"], len(next(iter(recipe["sets"].values()))["removed"]) - 1
        least = safe or 0
        rows.append(
            [
                f"`{name}`",
                number(recipe["bits"]),
                number(last),
                _shares(recipe, last, "dissimilar", "removed"),
                "none" if safe is None else f"**{safe}**",
                _shares(recipe, least, "dissimilar", "removed"),
                _shares(recipe, least, "found", "duplicates"),
            ]
        )
    below = f"below {record['similar']:g}, %"
    head = ["recipe", "bits", "largest distance tried", f"{below}, there", "safe distance", f"{below}, there or at 0"]
    return table([*head, "duplicates found, %"], rows)


def safe_distances_default(record: Record) -> str:
    """The default recipe, distance by distance."""
    recipe = record["recipes"][CLOSELY]
    removed = next(iter(recipe["sets"].values()))["removed"]
    head = ["distance", "removed"]
    head += [f"below {record[name]:g}, %" for name in ("similar", "unlike")]
    rows = [
        [
            number(distance),
            " / ".join(f"{each['removed'][distance]:,}" for each in recipe["sets"].values()),
            _shares(recipe, distance, "dissimilar", "removed"),
            _shares(recipe, distance, "unlike", "removed"),
            _unequal(recipe, distance),
            _shares(recipe, distance, "found", "duplicates"),
        ]
        for distance in range(len(removed))
    ]
    return table([*head, f"below {record['similar']:g} of unequal texts, %", "duplicates found, %"], rows)


def removal_ranges(record: Record) -> str:
    """For each set and clustering: what the slider says of stricter thresholds than 0.8, and what a run removes."""
    rows = []
    head: list[str] = []
    for name, of_set in record["sets"].items():
        for cluster, bases in of_set["clusterings"].items():
            found = bases["0.8"]
            head = [f"at {each['threshold']:g}" for each in found]
            rows.append([f"`{name}`", f"`{cluster}`", *(f"{_span(each)}: {each['removed']:,}" for each in found)])
    return table(["set", "clustering", *head], rows)


def guards(record: Record) -> str:
    """For each set: what is removed without the guard and with it, and the precision and recall of the pairs."""
    rows = []
    for name, found in record["sets"].items():
        each = [found["None"], found["same-numbers"]]
        removed = [f"{one['removed']:,} of {found['documents']:,}" for one in each[:1]] + [f"{each[1]['removed']:,}"]
        quality = [
            f"{100 * one[of]:.1f}" if one[of] is not None else "–" for of in ("precision", "recall") for one in each
        ]
        rows.append([f"`{name}`, {found['min_similarity']:g}", *removed, f"{each[0]['only_digits']:,}", *quality])
    of_pairs = [f"{of}, %" + guarded for of in ("precision", "recall") for guarded in ("", ", guarded")]
    return table(["set, threshold", "removed", "guarded", "differ in digits only", *of_pairs], rows)


def _span(said: Record) -> str:
    least, most = said["least"], said["most"]
    return f"{least:,}" if least == most else f"{least:,}-{most:,}"


def _unequal(recipe: Record, distance: int) -> str:
    return _percents(
        [
            (each["dissimilar"][distance], each["removed"][distance] - each["equal"][distance])
            for each in recipe["sets"].values()
        ]
    )
