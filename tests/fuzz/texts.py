"""TEXTS: corpora of near-copies, of hostile Unicode, of next to nothing."""

import random
import unicodedata

from strategies import ASSIGNED, CJK, PLAIN, TRICKY

VOCABULARY = "the night ferry leaves at nine from old pier and dogs travel free in winter 42 1984 don't e-mail ＡＢ ﬁne Straße".split()
SCRIPTS = "河上的老石橋建于明代 古い石橋は川の上に 다리는 강 위에 있다 الجسر القديم पुल नदी के ऊपर สะพานเก่า Ωμέγα ΣΊΣΥΦΟΣ İstanbul ǅungla".split()
HOSTILE = [
    "\0", "\x1c", "\x7f", "\x85", "\r", "\r\n", "\t", "\v", "\u00a0", "\u00ad", "\u034f", "\u061c", "\u115f", "\u180e", "\u200b", "\u200d",
    "\u200e", "\u202e", "\u2028", "\u2029", "\u2060", "\u2066", "\u3000", "\u3164", "\ufe0f", "\ufeff", "\uffa0", "\ufffd", "\ufdfa", "\U000e0041",
    "\U000e0100", "a" + "\u0301" * 40, "\u0344\u0345", "e\u0323\u0302", "\u1100\u1161\u11a8", "각", "ㄱㅏ", "か\u3099", "ｶﾞ", "ﾊﾟ", "㍿", "㎢", "½", "²", "①",
    "Ⅷ", "ß", "ẞ", "ŉ", "ΐ", "ς", "Σ", "İ", "ı", "i\u0307", "ǅ", "ﬅ", "ﬆ", "Ω", "Å", "𝔘𝔫𝔦", "𠮷", "丽", "\U0002ffff"[:0] + "𪜀", "🙂‍↔️", "👩🏽‍🚀", "🏴\U000e0067\U000e0062\U000e007f",
    "نی\u200cخواهم", "ก\u0e33", "क\u094dष", "_", "'", '"', "\\", "\\n", "{}", ",", ";", "=1+1", "<b>", "&amp;", "%s", "\ue000", "\U0010fffd"[:0] + "¨",
]  # fmt: skip
"""What normalization, tokens, lines and formats may stumble over; no lone surrogates, which are refused."""
LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 20, 40)


def character(rng: random.Random) -> str:
    """Any that Unicode 14 has assigned, the hard ones more often."""
    return rng.choice(
        [rng.choice(PLAIN), rng.choice(CJK), rng.choice(TRICKY), chr(rng.choice(ASSIGNED)), rng.choice(HOSTILE)]
    )


def word(rng: random.Random) -> str:
    """One of few words, so that texts have much in common, or a hostile one."""
    drawn = rng.random()
    if drawn < 0.6:
        return rng.choice(VOCABULARY)
    if drawn < 0.8:
        return rng.choice(SCRIPTS)
    if drawn < 0.9:
        return f"w{rng.randrange(40)}"
    return "".join(character(rng) for _ in range(rng.randint(1, 5)))


def base(rng: random.Random) -> list[str]:
    """The words of a text that is like none before it."""
    return [word(rng) for _ in range(rng.choice(LENGTHS))]


def edited(rng: random.Random, words: list[str]) -> list[str]:
    """A copy with words replaced, lost, added, moved or repeated; or a part of it; or several of it."""
    words = list(words)
    for _ in range(rng.choice([0, 1, 1, 2, 3, 6])):
        at = rng.randint(0, len(words))
        change = rng.randrange(7)
        if change == 0:
            words[at : at + 1] = [word(rng)]
        elif change == 1:
            words[at : at + rng.randint(1, 3)] = []
        elif change == 2:
            words[at:at] = [word(rng)]
        elif change == 3:
            words = words[at:] + words[:at]
        elif change == 4:
            words = words * rng.randint(1, 3) if len(words) < 60 else words
        elif change == 5:
            words = words[: max(1, at)]
        else:
            words[at:at] = words[:at]
            words = words[:80]
    return words


def written(rng: random.Random, words: list[str]) -> str:
    """The words as a text; most ways to write them are equal after normalization."""
    glue = rng.choice([" ", " ", " ", "  ", "\n", ", ", "", "\u3000", "\u200b ", "\n\n", "\r\n"])
    text = glue.join(words)
    change = rng.randrange(12)
    if change == 0:
        return text.upper()
    if change == 1:
        return unicodedata.normalize(rng.choice(["NFD", "NFKC", "NFKD"]), text)
    if change == 2:
        return f"\ufeff {text}\n" if rng.random() < 0.3 else f" {text} \n"
    if change == 3:
        at = rng.randint(0, len(text))
        return text[:at] + character(rng) + text[at:]
    if change == 4:
        return text.replace("e", "e\u200b").replace("a", "ａ")
    return text


def without_lone_surrogates(text: str) -> str:
    return "".join(each for each in text if not 0xD800 <= ord(each) < 0xE000)


def corpus(rng: random.Random, size: int) -> list[str]:
    """Texts, most of them edited copies of earlier ones."""
    known: list[list[str]] = []
    texts = []
    copies = rng.choice([0.3, 0.7, 0.95])
    for _ in range(size):
        words = edited(rng, rng.choice(known)) if known and rng.random() < copies else base(rng)
        known.append(words)
        texts.append(without_lone_surrogates(written(rng, words)))
    return texts


def corpus_of_units(rng: random.Random, size: int) -> list[str]:
    """Texts of lines and paragraphs that come again, in the same and in other texts."""
    units = [
        without_lone_surrogates(written(rng, each)) for each in ([], ["---"], *(base(rng) for _ in range(size + 2)))
    ]
    units += [without_lone_surrogates(written(rng, edited(rng, unit.split(" ")))) for unit in units]
    ends = ["\n", "\n", "\n\n", "\r\n", "\n \n", "\n\u3000\n", "\r"]
    return [
        "".join(rng.choice(units) + rng.choice(ends) for _ in range(rng.randint(0, 6))) + rng.choice(["", *units])
        for _ in range(size)
    ]
