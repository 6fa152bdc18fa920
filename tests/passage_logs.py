"""Follows cuts through the log of a run, token by token, without anything of the package."""

import json
from pathlib import Path

import naive


def read_lines(path):
    """The rows of a JSON-lines file."""
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def place_of(line, columns, *, copy, references):
    """The document and the column of a cut, or of its copy. A document of a reference is after all inputs."""
    prefix = "copy_" if copy else ""
    column = columns.index(line[f"{prefix}column"]) if len(columns) > 1 else 0
    row = line[f"{prefix}row"]
    return (references + line["reference_row"] if row is None else row), column


def demand_copies(rows, inputs, lines, kept, columns=("text",)):
    """Each token that is cut is the same as a token that stays, in a document that stays or in the reference.

    `rows`: dicts, those of the reference last; `inputs`: how many are of the inputs; `kept`: the rows that are in the output.

    Returns the tokens that are cut: for each document and column, the numbers of these.
    """
    earlier, cut = {}, {}
    for line in lines:
        tokens = {}
        for copy, (start, end) in enumerate(((line["start"], line["end"]), (line["copy_start"], line["copy_end"]))):
            row, column = place_of(line, columns, copy=copy, references=inputs)
            text = rows[row][columns[column]]
            before, inside = (len(naive.tokens(text[a:b])) for a, b in ((0, start), (start, end)))
            assert inside == line["tokens"]
            tokens[copy] = [(row, column, before + i) for i in range(inside)]
            named = rows[row].get("id", row)
            assert line["copy_id" if copy else "id"] == named
        for here, there in zip(tokens[0], tokens[1], strict=True):
            assert here not in earlier
            earlier[here] = there
            cut.setdefault(here[:2], set()).add(here[2])
    for place in earlier:
        token = naive.tokens(rows[place[0]][columns[place[1]]])[place[2]]
        steps = 0
        while place in earlier:
            place, steps = earlier[place], steps + 1
            assert steps <= len(earlier)
        row, column, number = place
        assert naive.tokens(rows[row][columns[column]])[number] == token
        assert row >= inputs or row in kept
    return cut


def rest_of(text, gone):
    """The tokens of a text without those with these numbers."""
    return [token for number, token in enumerate(naive.tokens(text)) if number not in gone]


def is_what_is_left(text, rest):
    """Whether a text is another one without some characters, and with some spaces more."""
    at = 0
    for character in rest:
        found = text.find(character, at)
        if found < 0 and character != " ":
            return False
        at = found + 1 if found >= 0 else at
    return True
