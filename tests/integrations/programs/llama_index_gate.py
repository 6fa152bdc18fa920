"""One day of ingestion by LlamaIndex with a gate as the first transformation. Standard input: documents. Prints JSON."""

import json
import sys
from pathlib import Path

from llama_index.core import MockEmbedding
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import Document, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore

from neardup.errors import NeardupError
from neardup.integrations.llama_index import NearDuplicateGate


def made(row):
    if "of" not in row:
        return Document(text=row["text"], id_=row["id"], metadata=row["meta"])
    node = TextNode(text=row["text"], id_=row["id"])
    node.relationships["1"] = Document(text="", id_=row["of"]).as_related_node_info()
    return node


if __name__ == "__main__":
    given = json.load(sys.stdin)
    docstore = (
        SimpleDocumentStore.from_persist_path("pipeline/docstore.json")
        if Path("pipeline/docstore.json").exists()
        else SimpleDocumentStore()
    )
    vectors = (
        SimpleVectorStore.from_persist_path("vectors.json")
        if Path("vectors.json").exists()
        else SimpleVectorStore(stores_text=True)
    )
    gate = NearDuplicateGate("seen.store", docstore=docstore, min_similarity=0.7, texts=True)
    pipeline = IngestionPipeline(
        transformations=[gate, SentenceSplitter(), MockEmbedding(4)],
        docstore=docstore,
        vector_store=vectors,
        docstore_strategy=DocstoreStrategy(given.get("strategy", "upserts_and_delete")),
    )
    pipeline.load("pipeline") if Path("pipeline").exists() else None
    pipeline.docstore = docstore
    try:
        nodes = pipeline.run(documents=[made(row) for row in given["documents"]], **given.get("how", {}))
    except NeardupError as problem:
        print(json.dumps({"refused": str(problem)}))
        sys.exit()
    pipeline.persist("pipeline")
    vectors.persist("vectors.json")
    print(
        json.dumps(
            {
                "ran": sorted(node.ref_doc_id for node in nodes),
                "metadata": [node.metadata for node in nodes],
                "kept": sorted(set(vectors.data.text_id_to_ref_doc_id.values())),
                "dropped": [[each.id, each.reason] for each in gate.last.dropped],
                "removed": gate.last.removed,
                "orphans": gate.last.orphans,
            }
        )
    )
