"""What a method makes of the options when a store is created. The record has it: a later version may plan otherwise."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Limits of candidates.

    Attributes:
        min_tokens: texts with fewer tokens match only equal ones.
        max_distance: the largest distance of candidates, if the method has one.
        bands, rows: how the method minhash cuts signatures: into so many bands of so many values. None for others.
        agreement: in how many values of signatures candidates must agree. None for others.
    """

    min_tokens: int
    max_distance: int | None
    bands: int | None = None
    rows: int | None = None
    agreement: int | None = None

    def to_store(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)
