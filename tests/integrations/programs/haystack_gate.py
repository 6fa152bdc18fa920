"""One day of indexing by Haystack with a gate before the writer. Standard input: documents. Prints JSON."""

import json
import sys
from pathlib import Path

from haystack import Document, Pipeline
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from neardup.errors import NeardupError
from neardup.integrations.haystack import NearDuplicateGate

if __name__ == "__main__":
    given = json.load(sys.stdin)
    store = (
        InMemoryDocumentStore.load_from_disk("documents.json")
        if Path("documents.json").exists()
        else InMemoryDocumentStore()
    )
    pipeline = Pipeline()
    pipeline.add_component("gate", NearDuplicateGate("seen.store", min_similarity=0.7, texts=True, **given["options"]))
    pipeline = Pipeline.loads(
        pipeline.dumps(), allowed_modules=["neardup.integrations.haystack"]
    )  # as in a file of YAML
    pipeline.add_component("writer", DocumentWriter(document_store=store, policy=DuplicatePolicy.OVERWRITE))
    pipeline.connect("gate.documents", "writer.documents")
    documents = [
        Document(content=row["text"], meta=row["meta"], **({"id": row["id"]} if "id" in row else {}))
        for row in given["documents"]
    ]
    try:
        done = pipeline.run({"gate": {"documents": documents}}, include_outputs_from={"gate"})
    except Exception as problem:
        cause = problem if isinstance(problem, NeardupError) else problem.__cause__
        if not isinstance(cause, NeardupError):
            raise
        print(json.dumps({"refused": str(cause)}))
        sys.exit()
    gate = done["gate"]
    gone = {str(each) for each in gate["removed"]}
    store.delete_documents(
        [each.id for each in store.filter_documents() if each.id in gone or each.meta.get("file") in gone]
    )
    store.save_to_disk("documents.json")
    kept = sorted([each.meta["file"], each.content] for each in store.filter_documents())
    dropped = [[each.id, each.place, each.reason] for each in gate["dropped"]]
    print(
        json.dumps(
            {
                "written": done["writer"]["documents_written"],
                "kept": kept,
                "dropped": dropped,
                "removed": gate["removed"],
                "orphans": gate["orphans"],
                "metadata": [each.meta for each in gate["documents"]],
            }
        )
    )
