"""The texts in the files that are flipped: near-copies, equal ones, short ones, in several scripts."""

import random
from typing import Any

from agreement import corpora

ROWS: list[dict[str, Any]] = [
    {"id": f"d{number}", "text": text}
    for number, text in enumerate([text for text in corpora.mixture(random.Random("flips")) if text][:24])
]
"""Without empty texts, which not every format can hold."""
LINES = [" ".join(row["text"].split()) for row in ROWS]
OPTIONS: dict[str, Any] = {"method": "exact", "min_similarity": 0.6, "threads": 1}
