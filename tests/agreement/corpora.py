"""The corpora on which runners must agree, named after the trap that each of them is."""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field

WORDS = [f"word{i}" for i in range(200)]
BRIDGE = "河上的老石桥建于明代，全长八十六米，共有七个拱。桥面用青石板铺成，石板上留着深深的车辙。"
JAPANESE = (
    "古い石橋は川の上にかかり、七つの丸い穴がある。冬は雪が積もり、春は花が咲く。人々は朝早く橋を渡って市場へ行く。"
)
FERRY = (
    "The night ferry to the islands leaves at ten past nine from the old customs pier, and dogs travel free in winter."
)
HUGE = 60_000
"""Words of a huge text."""


@dataclass(frozen=True)
class Corpus:
    """Documents, divided into shards, and a reference.

    Attributes:
        name: of its trap.
        shards: the rows of each file, with id, text and language.
        reference: the rows of a reference; none if it is empty.
        is_huge: slow definitions cannot read it.
    """

    name: str
    shards: list[list[dict]]
    reference: list[dict] = field(default_factory=list)
    is_huge: bool = False

    @property
    def rows(self):
        """The rows of all shards."""
        return [row for shard in self.shards for row in shard]


def edited(rng, text):
    """The text with a word or two replaced, removed or repeated."""
    words = text.split(" ")
    for _ in range(rng.randint(1, 2)):
        place = rng.randrange(len(words)) if words else 0
        words[place : place + 1] = rng.choice([["changed"], [], words[place : place + 1] * 2])
    return " ".join(words)


def equal_texts(rng):
    """Equal ones, and those that normalization makes equal: case, widths, white space, zero-width characters."""
    bases = [FERRY, BRIDGE, JAPANESE, edited(rng, FERRY), " ".join(rng.choices(WORDS, k=30))]
    forms = [str, str.upper, str.title, lambda t: t.replace(" ", "\n "), lambda t: t.replace("e", "e\u200b"),
             lambda t: t.replace("0", "０").replace("a", "ａ"), lambda t: f"  {t}\t"]  # fmt: skip
    return [rng.choice(forms)(rng.choice(bases)) for _ in range(40)]


def equal_sets(rng):
    """Texts whose sets of shingles are equal and whose normalized texts are not: passages that are repeated."""
    found = []
    for _ in range(4):
        passage = rng.choices(WORDS, k=rng.randint(4, 12))
        found += [" ".join(passage * times) for times in (2, 3, 4, 7)]
        found += [edited(rng, found[-1]), " ".join((passage * 3)[1:])]
    return found * 2


def chains(rng):
    """Each text is like the next one; the ends of a chain are not alike."""
    found = []
    for start in (0, 90):
        found += [" ".join(WORDS[start + shift : start + shift + 40]) for shift in range(0, 40, 4)]
    rng.shuffle(found)
    return found


def short(rng):
    """From no token to a few more than a fingerprint needs."""
    lengths = [0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    texts = [" ".join(rng.choices(WORDS[:5], k=rng.choice(lengths))) for _ in range(50)]
    return texts + ["!", "?!", "…", "石", "石橋", "石橋は", "a", "A", "ａ", "🙂", "🙂🙂"] * 2


def empty(rng):
    """Nothing, white space, and what normalization removes."""
    return [rng.choice(["", " ", "\n\n", "\u200b", "\u3000", "\ufeff"]) for _ in range(20)]


def huge(rng):
    """A huge text, one that is nearly the same, a part of it, and some of usual size."""
    words = rng.choices(WORDS, k=HUGE) + [f"n{i}" for i in range(HUGE)]
    near = [word if i % 997 else "changed" for i, word in enumerate(words)]
    return [FERRY, " ".join(words), BRIDGE, " ".join(near), FERRY.upper(), " ".join(words[: HUGE // 2]), "word"]


def scripts(rng):
    """Han, Kana, Latin, Hangul, Arabic, Devanagari, emoji and combining marks, in one text and in several."""
    pieces = [*BRIDGE.split("，"), *JAPANESE.split("。"), *FERRY.split(","), "다리는 강 위에 있다", "الجسر القديم فوق النهر",
              "पुल नदी के ऊपर है", "🌉🌊 🙂‍↔️", "e\u0301te\u0301 a\u0323\u0302", "ﬁne ℌ Ⅷ ｶﾞｷﾞ", "𠮷野家の𠮷"]  # fmt: skip
    bases = [" ".join(rng.sample(pieces, 7)) for _ in range(6)]
    return [edited(rng, rng.choice(bases)) if rng.random() < 0.7 else rng.choice(bases) for _ in range(40)]


def spaceless(rng):
    """Scripts without spaces between words, with zero width spaces or not, among words and emoji; of version 2 of a recipe."""
    words = ["ฉัน", "ชอบ", "กิน", "ข้าว", "ผัด", "ກິນ", "ເຂົ້າ", "ភាសា", "ខ្មែរ", "ទឹក", "မြန်မာ", "ဘာသာ", "ꦧꦱ", "ꦗꦮ", "ᬩᬮᬶ", "ꆈꌠ",
             "👍🏽", "🎉", "2560", "๒๕"]  # fmt: skip
    found = []
    for _ in range(8):
        base = rng.choices(words, k=rng.randint(12, 30)) + rng.choices(FERRY.split(), k=4)
        for _ in range(4):
            text = list(base)
            text[rng.randrange(len(text))] = rng.choice(["แมว", "", "🐈"])
            found.append(rng.choice(["", "\u200b"]).join(text))
    return [*found, "🙂", "🙂🙂", "🎉🎉🎉👍", "🎉🎉🎉👍🏽", "!", "ทาง", "ทาง"]


def mixture(rng):
    """Some of everything."""
    bases = [" ".join(rng.choices(WORDS, k=rng.randint(12, 40))) for _ in range(6)]
    bases += [JAPANESE, JAPANESE[::-1], 'He said "no; never, not at all", and the others, all seven, said it again.']
    found = []
    for _ in range(48):
        text, kind = rng.choice(bases), rng.random()
        if kind < 0.1:
            text = rng.choice(["See page 2.", "see PAGE 2.", "!", ""])
        elif kind < 0.4:
            text = edited(rng, text)
        elif kind < 0.6:
            text = text.upper()
        elif kind < 0.75:
            text = " ".join(rng.choices(WORDS, k=rng.randint(5, 30)))
        found.append(text)
    return found


TEXTS: dict[str, Callable] = {
    "equal texts": equal_texts,
    "equal sets": equal_sets,
    "chains": chains,
    "short": short,
    "empty": empty,
    "huge": huge,
    "scripts": scripts,
    "spaceless": spaceless,
    "mixture": mixture,
    "one": lambda _: [FERRY],
}


def _named(texts, rng, *, repeats=False, of_both_kinds=False):
    """Rows with ids: all different, or some repeated; strings, or strings and integers."""
    found = []
    for number, text in enumerate(texts):
        name = rng.randrange(max(1, len(texts) // 2)) if repeats and rng.random() < 0.4 else number
        id_ = name if of_both_kinds and name % 2 else f"d{name}"
        found.append({"id": id_, "text": text, "language": rng.choice(["en", "de", None])})
    return found


def _in_shards(rows, rng, shards=3):
    """The rows in this many files, some of which may have none."""
    cuts = [0, *sorted(rng.randint(0, len(rows)) for _ in range(shards - 1)), len(rows)]
    return [rows[first:last] for first, last in itertools.pairwise(cuts)]


def make(name):
    """One of the corpora; always the same."""
    rng = random.Random(name)
    if name in TEXTS:
        return Corpus(name, _in_shards(_named(TEXTS[name](rng), rng), rng), is_huge=name == "huge")
    rows = mixture(rng) + chains(rng)
    rng.shuffle(rows)
    if name == "repeated ids":
        return Corpus(name, _in_shards(_named(rows, rng, repeats=True), rng))
    if name == "ids of both kinds":
        return Corpus(name, _in_shards(_named(rows, rng, repeats=True, of_both_kinds=True), rng))
    if name == "reference":
        cut = len(rows) // 3
        reference = _named([*rows[:cut], *rows[:3], BRIDGE, ""], rng, repeats=True)
        return Corpus(name, _in_shards(_named([*rows[cut:], *rows[:5]], rng), rng), reference)
    assert name == "no document"
    return Corpus(name, [[], []])


NAMES = [*TEXTS, "repeated ids", "ids of both kinds", "reference", "no document"]
