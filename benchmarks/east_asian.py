"""Texts in Chinese and Japanese: message catalogs, laws with words and numbers in Latin, and laws with planted copies.

All are the same every time, for the same open sets and the same system.
"""

import gettext
import random
import re
from pathlib import Path

import pyarrow as pa

from corpora import PIECE, Texts, open_texts

LAWS = "zh_laws_national"
CATALOGS = Path("/usr/share/locale/ja/LC_MESSAGES")
CLAUSE = re.compile(r"(?<=[，。；、])")
LATIN = re.compile(r"[A-Za-z]{2,10}")
LATIN_SHARE = 0.4
"""Of the clauses, so many get a word in Latin and a number."""
COPIES, EDITED = 9, (0.005, 0.01, 0.02, 0.03, 0.05)
"""Copies of each law, and the shares of characters that are edited in them, in turns."""


def japanese_catalogs(size: int = PIECE) -> Texts | None:
    """The Japanese messages of the system's programs, in documents of so many characters; None if there are none."""
    messages: dict[str, None] = {}
    for path in sorted(CATALOGS.glob("*.mo")):
        with path.open("rb") as file:
            for message in gettext.GNUTranslations(file)._catalog.values():  # type: ignore[attr-defined]
                messages[message] = None
    documents, document = [], ""
    for message in messages:
        if message.isascii() or message.startswith("Project-Id-Version"):
            continue
        document += message + "\n"
        if len(document) >= size:
            documents.append(document)
            document = ""
    return Texts("ja_catalogs", pa.array(documents, pa.large_string())) if documents else None


def mixed_laws(folder: Path) -> Texts:
    """The laws with a Latin word and a number after two clauses of five, as technical texts have them."""
    chance = random.Random(5)
    words = sorted(
        {
            w
            for text in open_texts(folder, "en_pep_revisions_even").head(1_000_000).array.to_pylist()
            for w in LATIN.findall(text)
        }
    )

    def with_latin(clause: str) -> str:
        return f"{clause}{chance.choice(words)} {chance.randrange(1000)} " if chance.random() < LATIN_SHARE else clause

    texts = ["".join(map(with_latin, CLAUSE.split(text))) for text in open_texts(folder, LAWS).array.to_pylist()]
    return Texts("Chinese laws with Latin words and numbers", pa.array(texts, pa.large_string()))


def laws_with_copies(folder: Path) -> Texts:
    """Each law and nine copies of it, of which some characters are others of the laws, in an order by chance."""
    chance = random.Random(6)
    laws = open_texts(folder, LAWS).array.to_pylist()
    characters = sorted(set("".join(laws[:200])))
    texts = list(laws)
    for number in range(COPIES):
        texts += [
            _edited(law, EDITED[(row + number) % len(EDITED)], characters, chance) for row, law in enumerate(laws)
        ]
    chance.shuffle(texts)
    return Texts(f"Chinese laws, each with {COPIES} planted copies", pa.array(texts, pa.large_string()))


def _edited(text: str, share: float, characters: list[str], chance: random.Random) -> str:
    """The text with that share of its characters, at least one, replaced by others by chance."""
    pieces = list(text)
    for place in chance.sample(range(len(pieces)), max(1, round(share * len(pieces)))) if pieces else ():
        pieces[place] = chance.choice(characters)
    return "".join(pieces)
