"""What is GIVEN with the texts of documents that are added."""

from collections.abc import Sequence
from typing import NamedTuple

from neardup.store.record.documents_table import DocumentRow


class Given(NamedTuple):
    """What is written of n documents besides their texts.

    Attributes:
        names, metadata: as JSON; metadata may be None for all.
        ranks: see `neardup.store.preference`; empty where `keep` needs none.
        expires: when each expires if it is kept; empty if none does.
        now: the time.
    """

    names: Sequence[str]
    metadata: Sequence[str | None] | None
    ranks: Sequence[float | None]
    expires: Sequence[float | None]
    now: float

    def rows(self, places: Sequence[int], first: int) -> list[DocumentRow]:
        """The rows of some documents, which get the numbers from `first` on."""
        return [
            DocumentRow(
                first + i,
                self.names[place],
                self.now,
                self.now,
                self.expires[place] if self.expires else None,
                None if self.metadata is None else self.metadata[place],
                self.ranks[place] if self.ranks else None,
            )
            for i, place in enumerate(places)
        ]
