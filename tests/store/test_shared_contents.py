"""The content of a document in a row is what its page says, whatever is kept of it, and what was damaged is refused."""

import struct

import numpy as np
import pytest
from streams import WAYS, near_copies

import neardup as nd
from neardup.store.formats.row_contents import contents_of, texts_of_contents
from neardup.store.store import Store

WEIGHTED = [way for way in WAYS if way[1] in ("weighted", "cosine")]


def parts(content, layout):
    """The definition: what the bytes of a document say, one after another."""
    words = list(struct.unpack(f"<{len(content) // 8}Q", content))

    def take(count):
        taken = words[:count]
        del words[:count]
        return taken

    found = {"tokens": take(1), "digest": take(2), "fingerprint": take(layout.words)}
    counts = take(len(layout.kinds))
    for kind, count in zip(layout.kinds, counts, strict=True):
        found[kind] = take(count)
        if layout.weighted:
            found[f"{kind}_weights"] = list(struct.unpack(f"<{count}d", struct.pack(f"<{count}Q", *take(count))))
    if layout.signing is not None:
        half = take(-(-layout.signing.values // 2))
        found["signature"] = [value for word in half for value in (word & 0xFFFFFFFF, word >> 32)][
            : layout.signing.values
        ]
    assert words == []
    return found


@pytest.mark.parametrize(("method", "similarity", "least"), WAYS)
def test_contents_are_what_the_definition_says(tmp_path, method, similarity, least):
    texts = ["", "a", *near_copies(30, 5)]
    with Store(tmp_path / "s", method=method, similarity=similarity, min_similarity=least) as store:
        layout, made = store._files.layout, store._files.texts(texts)
    contents = contents_of(layout, made)
    for row, content in enumerate(contents):
        found = parts(content, layout)
        assert (found["tokens"], found["fingerprint"]) == ([made.prints.tokens[row]], made.prints.values[row].tolist())
        assert found["digest"] == made.prints.digests[row].tolist()
        for kind in layout.kinds:
            elements = getattr(made, kind)
            some = slice(*elements.offsets[row : row + 2])
            assert found[kind] == elements.values[some].tolist()
            if layout.weighted:
                assert found[f"{kind}_weights"] == elements.weights[some].tolist()
        if layout.signing is not None:
            assert found["signature"] == made.signatures.values[row].tolist()
    assert contents_of(layout, texts_of_contents(layout, contents, "x")) == contents
    assert contents_of(layout, made[np.arange(3)]) == contents[:3]
    assert contents_of(layout, texts_of_contents(layout, [], "x")) == []
    for damaged in (
        b"",
        contents[-1][:-8],
        contents[-1][:-3],
        contents[-1] + bytes(8),
        b"\xff" * 8 * (3 + layout.words) + b"\xff" * 80,
    ):
        with pytest.raises(nd.DataError, match="x is damaged"):
            texts_of_contents(layout, [contents[0], damaged], "x")


def test_some_ways_have_weights_and_signatures():
    assert WEIGHTED
    assert any(method == "minhash" for method, *_ in WAYS)
