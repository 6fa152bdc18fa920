"""A transformation for LlamaIndex's `IngestionPipeline`: the first one, before documents are split.

    gate = NearDuplicateGate("seen.store", docstore=docstore, min_similarity=0.8)
    IngestionPipeline(
        transformations=[gate, SentenceSplitter(), embedding], docstore=docstore, vector_store=vector_store,
        docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
    ).run(documents=documents)

The pipeline gives the gate new and changed documents only. With the pipeline's docstore, the gate also sees which documents the
pipeline has deleted, and passes on their duplicates in the same run.
"""

import uuid
from collections.abc import Sequence
from typing import Any

from neardup.errors import OptionError
from neardup.integrations.gate import Gate, Passage
from neardup.recipe.stored_parts import check_installed

check_installed("neardup.integrations.llama_index", ("llama-index-core",), "llama-index")

from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent  # noqa: E402
from llama_index.core.storage.docstore import BaseDocumentStore  # noqa: E402
from pydantic import PrivateAttr  # noqa: E402

TESTED = "0.14.25"
"""The version of llama-index-core that this was tested with."""


class NearDuplicateGate(TransformComponent):  # type: ignore[misc]
    """Passes new and changed documents; see `neardup.integrations.gate`."""

    store: str
    _gate: Gate = PrivateAttr()
    _docstore: BaseDocumentStore | None = PrivateAttr()
    _last: Passage | None = PrivateAttr(default=None)

    def __init__(self, store: str, *, docstore: BaseDocumentStore | None = None, **options: Any) -> None:
        """See `Gate`.

        Args:
            store: its place; it is made if it does not exist.
            docstore: that of the pipeline. Documents that it has no more are forgotten, so give it if the pipeline deletes.
            **options: of `Gate`.
        """
        super().__init__(store=store)
        self._gate, self._docstore = Gate(store, **options), docstore

    @property
    def last(self) -> Passage | None:
        """What the last run decided: documents that were dropped, with reasons; `removed`; and orphans to be loaded again."""
        return self._last

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """What the pipeline's cache looks a result up by: never the same, since results depend on the store."""
        return {**super().to_dict(**kwargs), "run": uuid.uuid4().hex}

    def __getstate__(self) -> Any:
        raise OptionError("A gate decides documents in one process: run the pipeline without `num_workers`.")

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> list[BaseNode]:
        """The documents that pass, in their order, and orphans, all as they were given."""
        given = list(nodes)
        for node in given:
            if node.ref_doc_id is not None and node.ref_doc_id != node.id_:
                raise OptionError("A gate decides whole documents: put it before what splits them.")
        last = self._decided(given, self._gone({node.id_ for node in given}))
        passed = [given[place] for place in last.passed]
        again = self._loaded(last.orphans)
        if again:
            more = self._decided(again, [])
            passed += [again[place] for place in more.passed]
            last = Passage(
                passed=last.passed,
                dropped=last.dropped + more.dropped,
                removed=last.removed + more.removed,
                orphans=more.orphans,
            )
        self._last = last
        return passed

    def _decided(self, nodes: list[BaseNode], gone: Sequence[Any]) -> Passage:
        texts = [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        return self._gate.decide([node.id_ for node in nodes], texts, gone=gone)

    def _gone(self, here: set[str]) -> list[Any]:
        """The kept documents that the docstore has no more."""
        if self._docstore is None:
            return []
        has = self._docstore.get_document_hash
        return [each for each in self._gate.kept() if each not in here and has(str(each)) is None]

    def _loaded(self, ids: Sequence[Any]) -> list[BaseNode]:
        """Orphans that the docstore still has; the pipeline would not give them again, since they are unchanged."""
        if self._docstore is None:
            return []
        found = [self._docstore.get_document(str(each), raise_error=False) for each in ids]
        return [node for node in found if node is not None]
