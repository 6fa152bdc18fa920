"""One day of indexing by LangChain: its `index` behind the gate. Standard input: the documents. Prints what happened as JSON."""

import asyncio
import dataclasses
import json
import sys
from pathlib import Path

from langchain_classic.indexes import SQLRecordManager, index
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore

from neardup.errors import NeardupError
from neardup.integrations.langchain import NearDuplicateGate

if __name__ == "__main__":
    given = json.load(sys.stdin)
    documents = [Document(page_content=row["text"], metadata=row["meta"], id=row.get("id")) for row in given["documents"]]
    gate = NearDuplicateGate("seen.store", min_similarity=0.7, texts=True, **given["options"])
    embedding, place = DeterministicFakeEmbedding(size=8), "vectors.json"
    vectors = InMemoryVectorStore.load(place, embedding) if Path(place).exists() else InMemoryVectorStore(embedding)
    manager = SQLRecordManager("test", db_url="sqlite:///records.sql")
    manager.create_schema()
    try:
        passed = gate.transform_documents(documents)
    except NeardupError as problem:
        print(json.dumps({"refused": str(problem)}))
        sys.exit()
    assert all(any(each is one for one in documents) for each in passed)
    assert asyncio.run(gate.atransform_documents(documents)) == passed
    done = index(passed, manager, vectors, cleanup="full", source_id_key="source", key_encoder="sha256")
    vectors.dump(place)
    kept = sorted([each["metadata"]["source"], each["text"]] for each in vectors.store.values())
    dropped = [[each.id, each.reason] for each in gate.last.dropped]
    removed, orphans = gate.last.removed, gate.last.orphans
    print(json.dumps({"index": done, "kept": kept, "dropped": dropped, "removed": removed, "orphans": orphans, "metadata": [each.metadata for each in passed]}))
    assert dataclasses.is_dataclass(gate.last)
