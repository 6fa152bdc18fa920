"""The slow, obvious definition of every stage: what the fast code is compared with.

Plain Python, no kernels, nothing shared with the package but names.
"""

import re
import unicodedata
from collections import Counter
from functools import cache
from math import sqrt

import xxhash

WHITE_SPACE = {
    chr(c)
    for c in (*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
}
IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


@cache
def nfkc_casefold(character):
    """The NFKC_Casefold mapping of one character (Unicode 14.0, section 3.13)."""
    before, now = None, character
    while now != before:
        before = now
        now = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", now).casefold())
        now = unicodedata.normalize("NFKC", IGNORABLE.sub("", now))
    return now


def normalize(text):
    folded = "".join(" " if c in WHITE_SPACE else nfkc_casefold(c) for c in text)
    return re.sub(" +", " ", unicodedata.normalize("NFC", folded)).strip(" ")


CJK_NAMES = tuple(
    "CJK UNIFIED,CJK COMPATIBILITY IDEOGRAPH,HIRAGANA,KATAKANA,HALFWIDTH KATAKANA,HENTAIGANA,COMBINING KATAKANA-HIRAGANA,"
    "VERTICAL KANA REPEAT,MASU MARK,IDEOGRAPHIC ITERATION,VERTICAL IDEOGRAPHIC ITERATION,OLD CHINESE ITERATION,"
    "IDEOGRAPHIC NUMBER ZERO,HANGZHOU,VIETNAMESE ALTERNATE READING MARK".split(",")
)


def is_cjk(character):
    return unicodedata.category(character)[0] in "LMN" and unicodedata.name(character, "").startswith(CJK_NAMES)


def tokens(text):
    """The tokens of a text: runs of letters, marks and numbers; Han and Kana characters one by one."""
    found, run = [], ""
    for character in [*normalize(text), " "]:
        inside = unicodedata.category(character)[0] in "LMN"
        if inside and not is_cjk(character):
            run += character
            continue
        if run:
            found.append(run)
            run = ""
        if inside:
            found.append(character)
    return found


def windows(found, word_size, cjk_size):
    """The windows of tokens that start at each token; the whole text if it is shorter than all of them."""
    sizes = [cjk_size if is_cjk(token[0]) else word_size for token in found]
    whole = [tuple(found[i : i + size]) for i, size in enumerate(sizes) if i + size <= len(found)]
    return whole or ([tuple(found)] if found else [])


def similarity(a, b):
    """Set Jaccard of the windows of 3 words or 5 Han or Kana characters."""
    left, right = (set(windows(tokens(text), 3, 5)) for text in (a, b))
    if not left | right:
        return float(normalize(a) == normalize(b))
    return len(left & right) / len(left | right)


def token_hash(token):
    return xxhash.xxh3_64_intdigest(token.encode().ljust(16, b"\0"))


def little(*values):
    return b"".join(value.to_bytes(8, "little") for value in values)


def feature_hash(window):
    return token_hash(window[0]) if len(window) == 1 else xxhash.xxh3_64_intdigest(little(*map(token_hash, window)))


def wide_hash(feature, bits):
    """A feature's hash at the fingerprint's width, as one integer."""
    if bits <= 64:
        return feature & ((1 << bits) - 1)
    value = xxhash.xxh3_128_intdigest(little(feature))
    words = (bits + 63) // 64
    for k in range(1, (words + 1) // 2):
        value = value << 128 | xxhash.xxh3_128_intdigest(little(feature, k))
    if words % 2:
        value >>= 64
    return value & ((1 << bits) - 1)


WEIGHTS = {
    "uniform": lambda count: 1,
    "tf": lambda count: count,
    "log": lambda count: count.bit_length(),
    "sqrt": lambda count: int(sqrt(count) * 65536 + 0.5),
}


def simhash(weighted, bits):
    """Charikar's SimHash of (hash, weight) pairs: per bit, the sign of the sum of +weight for 1 and -weight for 0."""
    fingerprint = 0
    for bit in range(bits):
        total = sum(weight if value >> bit & 1 else -weight for value, weight in weighted)
        fingerprint |= (total > 0) << bit
    return fingerprint


def fingerprint(text, *, word_shingle=1, cjk_shingle=2, weights="log", bits=128):
    counts = Counter(windows(tokens(text), word_shingle, cjk_shingle))
    return simhash([(wide_hash(feature_hash(w), bits), WEIGHTS[weights](c)) for w, c in counts.items()], bits)


def star(n, grade, least):
    """Each of n documents, most preferred first, survives unless it matches an earlier survivor: (survivor, grade) of each."""
    survivors, found = [], []
    for p in range(n):
        best = max(((grade(q, p), -q) for q in survivors), default=(-1, 0))
        if best[0] >= least:
            found.append((-best[1], best[0]))
        else:
            survivors.append(p)
            found.append((p, None))
    return found


def components(n, grade, least):
    """The smallest document of each document's connected component."""
    of = list(range(n))
    for p in range(n):
        for q in range(p):
            if grade(q, p) >= least and of[p] != of[q]:
                low, high = sorted((of[p], of[q]))
                of = [low if component == high else component for component in of]
    return of


def pairs_within(fingerprints, max_distance, other=None):
    """Every (left, right, distance) of rows of words, at most `max_distance` bits apart, by looking at all of them."""
    left = [[int(word) for word in row] for row in fingerprints]
    right = left if other is None else [[int(word) for word in row] for row in other]
    found = []
    for i, a in enumerate(left):
        for j in range(i + 1 if other is None else 0, len(right)):
            distance = sum((x ^ y).bit_count() for x, y in zip(a, right[j], strict=True))
            if distance <= max_distance:
                found.append((i, j, distance))
    return found
