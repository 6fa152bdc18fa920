"""One day of indexing by LangChain: its `index` behind the gate. Standard input: the documents. Prints what happened as JSON."""

import asyncio
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
    documents = [
        Document(page_content=row["text"], metadata=row["meta"], id=row.get("id")) for row in given["documents"]
    ]
    embedding, place = DeterministicFakeEmbedding(size=8), "vectors.json"
    vectors = InMemoryVectorStore.load(place, embedding) if Path(place).exists() else InMemoryVectorStore(embedding)
    manager = SQLRecordManager("test", db_url="sqlite:///records.sql")
    manager.create_schema()
    try:
        gate = NearDuplicateGate("seen.store", min_similarity=0.7, texts=True, **given["options"])
        passed = gate.transform_documents(documents)
    except NeardupError as problem:
        print(json.dumps({"refused": str(problem)}))
        sys.exit()
    assert all(any(each is one for one in documents) for each in passed)
    last = gate.last
    assert asyncio.run(gate.atransform_documents(documents)) == passed
    assert gate.last.removed == ()
    done = index(passed, manager, vectors, cleanup="full", source_id_key="source", key_encoder="sha256")
    vectors.dump(place)
    kept = sorted([each["metadata"]["source"], each["text"]] for each in vectors.store.values())
    dropped = [[each.id, each.reason] for each in last.dropped]
    metadata = [each.metadata for each in passed]
    told = {"kept": kept, "dropped": dropped, "removed": last.removed, "orphans": last.orphans, "metadata": metadata}
    print(json.dumps({"index": done} | told))
