"""Frozen fingerprints: a release cannot change bits by accident."""

import json
from pathlib import Path

import pytest

import neardup as nd

NOTES = Path(__file__).parent.parent / "examples/notes.jsonl"
GOLDEN = Path(__file__).parent / "golden/notes.json"


def fingerprints(recipe):
    rows = [json.loads(line) for line in NOTES.read_text(encoding="utf-8").splitlines()]
    values = nd.fingerprint([row["text"] for row in rows], recipe=recipe).reshape(len(rows), -1)
    return {
        row["id"]: "".join(f"{word:016x}" for word in words) for row, words in zip(rows, values.tolist(), strict=True)
    }


@pytest.mark.parametrize("name", nd.RECIPES)
def test_named_recipes_give_the_fingerprints_that_they_gave(name):
    assert fingerprints(nd.RECIPES[name].recipe) == json.loads(GOLDEN.read_text())[name]
