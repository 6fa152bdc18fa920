"""A document transformer for LangChain: documents that no kept document is a near-duplicate of, and those that are kept already.

    gate = NearDuplicateGate("seen.store", id="source", full=True, min_similarity=0.8)
    index(gate.transform_documents(loader.load()), record_manager, vector_store, cleanup="full", source_id_key="source")

The second day changes nothing: documents that are kept pass again, so `cleanup="full"` does not delete them. Give it whole
documents, before a text splitter.
"""

from collections.abc import Callable, Sequence
from typing import Any

from neardup.errors import OptionError
from neardup.integrations.gate import Gate, Passage
from neardup.recipe.stored_parts import check_installed

check_installed("neardup.integrations.langchain", ("langchain-core",), "langchain")

from langchain_core.documents import Document  # noqa: E402
from langchain_core.documents.transformers import BaseDocumentTransformer  # noqa: E402

TESTED = "1.8.3"
"""The version of langchain-core that this was tested with."""


class NearDuplicateGate(BaseDocumentTransformer):  # type: ignore[misc]
    """Passes new and unchanged documents; see `neardup.integrations.gate`.

    Attributes:
        last: what the last call decided: the documents that were dropped, with reasons; ids to delete from an index that does not
            clean up by itself; and orphans, to be loaded again.
    """

    last: Passage | None = None

    def __init__(
        self,
        store: str,
        *,
        id: str | Callable[[Document], Any] | None = None,  # noqa: A002
        full: bool = False,
        **options: Any,
    ) -> None:
        """See `Gate`.

        Args:
            store: its place; it is made if it does not exist.
            id: the key of the metadata that names a document in every run, or a function of a document; `Document.id` by default.
            full: whether each call has all documents of the source, as `cleanup="full"` needs. Others are then forgotten.
            **options: of `Gate`.
        """
        self.gate, self._id, self._full = Gate(store, **options), id, full

    def transform_documents(self, documents: Sequence[Document], **_: Any) -> Sequence[Document]:
        """The documents that pass, in their order, as they were given."""
        given = list(documents)
        ids = [self._name(place, each) for place, each in enumerate(given)]
        self.last = self.gate.decide(ids, [each.page_content for each in given], gone=self._full)
        return [given[place] for place in self.last.passed]

    def _name(self, place: int, document: Document) -> Any:
        if callable(self._id):
            return self._id(document)
        found = document.id if self._id is None else document.metadata.get(self._id)
        if found is None:
            where = "`Document.id` is None" if self._id is None else f"its metadata has no {self._id!r}"
            raise OptionError(
                f"Document {place} has no id: {where}. Name what is the same in every run, such as `id='source'`, or give a "
                "function of a document."
            )
        return found
