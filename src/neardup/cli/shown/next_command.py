"""The command that a person may want next, as it can be typed."""

import contextlib
import itertools
import os
import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from neardup.display import with_bytes

if TYPE_CHECKING:
    from neardup.jobs.results import FileResult, UnitResult

_MAX_SEARCHED_LINES = 1000
"""Lines of an audit in which a near-duplicate is searched."""
_MAX_ID_CHARACTERS = 60
_WITHOUT_TEXTS = {"dimension", "program"}
"""Fields of recipes of vectors and of other programs' fingerprints."""
_MAX_SHARDS = 3
_PLAIN = re.compile(r"[\w@%+:,./-]+")


def quoted(word: str) -> str:
    """A word as it is typed in a shell: in quotes only if it has to be. What is not UTF-8 is typed as in bash and zsh."""
    if with_bytes(word) != word:
        escaped = word.replace("\\", "\\\\").replace("'", "\\'")
        return f"$'{with_bytes(escaped)}'"
    return word if _PLAIN.fullmatch(word) else shlex.quote(word)


def next_of(words: Sequence[str]) -> str:
    """A call of `neardup`."""
    return " ".join(["neardup", *map(quoted, words)])


def after_removal(done: "FileResult | UnitResult") -> str | None:
    """After a removal, look at one that was removed: the first near-duplicate of the audit, or else its first line."""
    audit, inputs = done.files.get("audit"), done.files.get("inputs", [])
    line = _example(audit) if audit else None
    if audit is None or line is None:
        return None
    name = str(line["id"])
    if not name.isprintable() or len(name) > _MAX_ID_CHARACTERS:
        return None
    counts: Any = done.summary
    recipe = getattr(counts, "found", counts).recipe
    has_texts = not (
        "unit" in line
        or line["survivor_id"] is None
        or "-" in inputs
        or line.get("reference") is not None
        or recipe.keys() & _WITHOUT_TEXTS
    )
    words = ["explain", *(["--diff"] if has_texts else []), audit, name]
    return next_of(words if name[:1] != "-" else [*words[:-1], "--", name])


def _example(audit: str) -> dict[str, Any] | None:
    from neardup.errors import NeardupError
    from neardup.io.storage.places import place_of
    from neardup.survivors.records.audit_files import read_audit

    with contextlib.suppress(NeardupError, OSError):
        lines = list(itertools.islice(read_audit(place_of(audit)), _MAX_SEARCHED_LINES))
        return next((line for line in lines if not line["exact"]), lines[0] if lines else None)
    return None


def after_clusters(done: "FileResult") -> str | None:
    """After clusters are decided, write the survivors of the shards, if these are few."""
    shards = done.shards
    if not shards or len(shards) > _MAX_SHARDS or "stdin" in shards:
        return None
    return next_of(["apply", done.files["output"], *shards, "-o", "deduplicated/"])


def after_fingerprints(output: str) -> str | None:
    """After a file of fingerprints is written, list its pairs."""
    if not output.endswith(".parquet") and not os.path.isdir(output):
        return None
    return next_of(["pairs", output, "-o", output.rstrip("/").removesuffix(".parquet") + ".pairs.parquet"])
