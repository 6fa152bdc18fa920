"""A component for Haystack's indexing pipelines, before a splitter: documents to write, and those to leave out or to delete.

    pipeline.add_component("gate", NearDuplicateGate("seen.store", id="file_path", min_similarity=0.8))
    pipeline.connect("converter.documents", "gate.documents")
    pipeline.connect("gate.documents", "writer.documents")

Documents without text (`content=None`) pass.
"""

import dataclasses
from typing import Any

from neardup.errors import OptionError
from neardup.integrations.gate import Dropped, Gate
from neardup.recipe.stored_parts import check_installed

check_installed("neardup.integrations.haystack", ("haystack-ai",), "haystack")

from haystack import Document, component, default_to_dict  # noqa: E402

TESTED = "3.4.1"
"""The version of haystack-ai that this was tested with."""


@component
class NearDuplicateGate:
    """Passes new and unchanged documents; see `neardup.integrations.gate`."""

    def __init__(self, store: str, *, id: str | None = None, full: bool = False, **options: Any) -> None:  # noqa: A002
        """See `Gate`.

        Args:
            store: its place; it is made if it does not exist.
            id: the key of `meta` that names a document in every run; `Document.id` by default, if you set it yourself.
            full: whether each run has all documents of the source. Others are then forgotten.
            **options: of `Gate`.
        """
        self._given = {"store": store, "id": id, "full": full, **options}
        self._gate, self._id, self._full = Gate(store, **options), id, full

    def to_dict(self) -> dict[str, Any]:
        """The component as plain values."""
        plain: dict[str, Any] = default_to_dict(self, **self._given)
        return plain

    @component.output_types(documents=list[Document], dropped=list[Dropped], removed=list[Any], orphans=list[Any])  # type: ignore[untyped-decorator]
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Decide documents.

        Returns:
            `documents` that pass, in their order, as they were given; `dropped` ones, with reasons; ids that were `removed`: delete
            them from the document store; `orphans`: ids of documents to load again.
        """
        places = [place for place, each in enumerate(documents) if each.content is not None]
        ids = [self._name(place, documents[place]) for place in places]
        found = self._gate.decide(ids, [str(documents[place].content) for place in places], gone=self._full)
        stays = {places[each] for each in found.passed}
        return {
            "documents": [each for place, each in enumerate(documents) if place in stays or each.content is None],
            "dropped": [dataclasses.replace(each, place=places[each.place]) for each in found.dropped],
            "removed": list(found.removed),
            "orphans": list(found.orphans),
        }

    def _name(self, place: int, document: Document) -> Any:
        if self._id is not None and document.meta.get(self._id) is not None:
            return document.meta[self._id]
        if self._id is None and document.id != dataclasses.replace(document, id="").id:
            return document.id
        why = (
            "its meta has no " + repr(self._id)
            if self._id
            else "its `id` is a hash of its content, which changes with it"
        )
        raise OptionError(
            f"Document {place} has no id that is the same in every run: {why}. Name a key of `meta`, such as `id='file_path'`, or "
            "set `Document.id`."
        )
