"""COST: what a run over files would take."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from neardup.display import about, allowed_text, size_text


@dataclass(frozen=True, kw_only=True)
class CostEstimate:
    """What a run would take, estimated from a sample; times are for this machine and the same number of threads.

    Attributes:
        documents: number of rows in all inputs.
        input_bytes: total file size on disk; sampled_bytes: how much of it was read.
        sampled_documents: number of documents in the sample.
        method: the method that would run, empty for a run that cuts passages; reason: why `auto` chose it, if it did.
        memory_bytes: peak resident memory, without mapped pages of temporary files; `limit_bytes`: the `memory` option.
        temporary_bytes: peak size of temporary files; `temporary_limit_bytes`: the `temp_limit` option, or its default.
        seconds: time by stage, and `total`.
    """

    documents: int
    input_bytes: int
    sampled_documents: int
    sampled_bytes: int
    method: str
    reason: str | None
    memory_bytes: int
    limit_bytes: int
    temporary_bytes: int
    temporary_limit_bytes: int
    seconds: dict[str, float]

    @property
    def parts(self) -> dict[str, float]:
        """The seconds in three parts: `reading` with the fingerprints, the `method` with all that it decides, and `writing`."""
        reading = sum(self.seconds.get(name, 0.0) for name in ("fingerprint", "read", "windows"))
        writing = self.seconds.get("write", 0.0)
        return {"reading": reading, "method": max(0.0, self.seconds["total"] - reading - writing), "writing": writing}

    def __repr__(self) -> str:
        return f"CostEstimate({self})"

    def __str__(self) -> str:
        by = f", by method {self.method}" if self.method else ""
        return (
            f"{self.documents:,} documents in {size_text(self.input_bytes)} take {about(self.seconds['total'])}, "
            f"{size_text(self.memory_bytes)} of memory and {size_text(self.temporary_bytes)} of temporary files "
            f"(allowed: {allowed_text(self.limit_bytes, self.temporary_limit_bytes)}){by}; from a sample of "
            f"{self.sampled_documents:,} documents in {size_text(self.sampled_bytes)}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def to_json(self) -> str:
        """The fields as one JSON object."""
        return json.dumps(self.as_dict(), ensure_ascii=False)
