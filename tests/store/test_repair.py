"""A repaired store answers as before, but for the documents that were damaged."""

import neardup as nd


def test_what_is_made_anew_has_all_documents(tmp_path):
    texts = [" ".join(f"w{i}" for i in range(first, first + 30)) for first in range(0, 900, 40)]
    with nd.Store(tmp_path / "s") as store:
        store.check_and_add_many(range(len(texts)), texts)
        store.check_and_add("near", texts[3] + " more")
    for path in (tmp_path / "s").glob("segment-*"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    found = nd.Store.repair(tmp_path / "s")
    assert (found.documents, found.damaged) == (len(texts), ())
    with nd.Store(tmp_path / "s") as store:
        assert [answer.duplicate_of for answer in store.check_many(texts)] == list(range(len(texts)))
        assert store.check(texts[3] + " more").duplicate_of == 3
        assert store.get(5) is not None
        assert store.verify().is_sound
