"""FACTS of a run from its summary, in words; and the sum of summaries of parts of one run."""

import json
from collections.abc import Iterator
from typing import Any

from neardup.display import size_text, threshold_text
from neardup.recipe.similarity import stored_similarity
from neardup.text.side_by_side.visible import name_of, plainly

OPTION_CHARACTERS = 400


def facts_of(summary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The options that decided, in words."""
    options = summary["options"]
    yield "Method", str(summary["method"])
    if summary["reason"]:
        yield "Why this method", plainly(summary["reason"])
    if summary.get("recipe_decides"):
        yield "The recipe", plainly(summary["recipe_decides"])
    if summary["min_similarity"] > 0:
        alike = stored_similarity(options["similarity"])
        yield "A match is", f"a {alike} similarity of at least {threshold_text(summary['min_similarity'])}"
    if summary["max_distance"] is not None:
        yield "Fingerprints", f"at most {summary['max_distance']} bits apart"
    yield "Candidates compared", f"{summary['candidates']:,}, of which {summary['matches']:,} matched"
    yield "Clustering", str(options["cluster"])
    compared = f", compared as {summary['compared_as']}" if summary.get("compared_as") else ""
    yield "Survivor", f"of two that match: {value_in_words(options['keep'])}{compared}"


def stages_of(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """For each stage its seconds, their percentage of the longest stage's, and what was read."""
    seconds = summary["seconds"]
    most = max([value for name, value in seconds.items() if name != "total"], default=0) or 1
    rows = []
    for name, value in seconds.items():
        read = summary["read_bytes"].get(name, 0)
        share = 100 * min(1.0, value / most)
        rows.append({"name": name, "seconds": value, "share": share, "read": size_text(read) if read else ""})
    return rows


def inputs_of(summary: dict[str, Any]) -> str:
    """The inputs in words; only the first few by name."""
    given = summary["files"]["inputs"]
    shown = ", ".join(name_of(each, 80) for each in given[:3])
    return shown + (f" and {len(given) - 3:,} more" if len(given) > 3 else "")


def value_in_words(value: Any) -> str:
    """The value of an option, clipped."""
    if value is None:
        return "—"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return name_of(text, OPTION_CHARACTERS)


def summed(summaries: list[dict[str, Any]]) -> dict[str, Any]:
    """Add up summaries of parts of one run."""
    first = summaries[0]
    if len(summaries) == 1:
        return first
    names = ("rows", "documents", "rejected", "survivors", "duplicates", "exact_duplicates", "short", "repeated_ids")
    summary = first | {name: sum(each[name] for each in summaries) for name in names}
    for table in ("seconds", "read_bytes", "written_bytes"):
        total: dict[str, Any] = {}
        for each in summaries:
            for name, value in each[table].items():
                total[name] = round(total.get(name, 0) + value, 3)
        summary[table] = total
    summary["peak_memory_bytes"] = max(each["peak_memory_bytes"] for each in summaries)
    inputs = [name for each in summaries for name in each["files"]["inputs"]]
    summary["files"] = first["files"] | {"inputs": inputs}
    return summary
