"""The slow, obvious definition of every stage: what the fast code is compared with.

Plain Python, no kernels, nothing shared with the package but names.
"""

import html
import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache, reduce
from hashlib import shake_128
from itertools import combinations
from math import floor, log, sqrt
from operator import add

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


def without_digits(text):
    """Equal for normalized texts that differ in digits only."""
    return re.sub(r"\d+", "0", text)


def numbers(text):
    """The runs of digits of a normalized text, each digit by its value."""
    digits = [unicodedata.decimal(character, None) for character in text]
    return "".join(" " if digit is None else str(digit) for digit in digits).split()


def is_punctuation(character):
    return unicodedata.category(character)[0] == "P" or character in "$+<=>^`|~"


def ranges(written):
    """The characters of ranges of code points."""
    ends = [[int(end, 16) for end in part.split("-")] for part in written.split()]
    return {chr(code) for first, *last in ends for code in range(first, (last or [first])[0] + 1)}


MARKS = ranges(
    "0300-036F 0483-0487 0591-05BD 05BF 05C1-05C2 05C4-05C5 05C7 0610-061A 0640 064B-0652 0656-065F 0670 06D6-06DC 06DF-06E4 "
    "06E7-06E8 06EA-06ED 0711 0730-074A 0898-089F 08CA-08E1 08E3-08FF 1AB0-1ACE 1DC0-1DFF 20D0-20F0 FE20-FE2F"
)
LETTERS = dict(zip("ٱىیکڪךםןףץς", "اييككכמנפצσ", strict=True))


def without(removed, replaced, text):
    """The text without some characters, and with others replaced, also where they are parts of one character."""
    found = ""
    for character in text:
        parts = unicodedata.normalize("NFKD", character)
        kept = "".join(replaced.get(part, part) for part in parts if part not in removed)
        plain = unicodedata.normalize("NFC", kept)
        found += character if kept == parts or len(plain) > 1 else plain
    return found


NORMALIZERS = {
    "marks": lambda text: without(MARKS, {}, text),
    "letters": lambda text: without(ranges("0653-0655"), LETTERS, text),
    "word_breaks": lambda text: text.replace("\u200b", " "),
    "nfkc_casefold": normalize,
    "nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "casefold": str.casefold,
    "lower": str.lower,
    "digits": lambda text: "".join("0" if unicodedata.category(c) == "Nd" else c for c in text),
    "punctuation": lambda text: "".join(c for c in text if not is_punctuation(c)),
}
"""The steps of normalization, but for those that a package does."""


def with_variants(text, replaced):
    """The text with the longest key of `replaced` at each place, from left to right, replaced by its value."""
    found, i = "", 0
    while i < len(text):
        key = max((key for key in replaced if text.startswith(key, i)), key=len, default=None)
        found += text[i] if key is None else replaced[key]
        i += 1 if key is None else len(key)
    return found


CJK_NAMES = tuple(
    "CJK UNIFIED,CJK COMPATIBILITY IDEOGRAPH,HIRAGANA,KATAKANA,HALFWIDTH KATAKANA,HENTAIGANA,COMBINING KATAKANA-HIRAGANA,"
    "VERTICAL KANA REPEAT,MASU MARK,IDEOGRAPHIC ITERATION,VERTICAL IDEOGRAPHIC ITERATION,OLD CHINESE ITERATION,"
    "IDEOGRAPHIC NUMBER ZERO,HANGZHOU,VIETNAMESE ALTERNATE READING MARK".split(",")
)


def is_cjk(character):
    return unicodedata.category(character)[0] in "LMN" and unicodedata.name(character, "").startswith(CJK_NAMES)


SPACELESS_NAMES = tuple(
    f"{name} "
    for name in "THAI,LAO,MYANMAR,KHMER,TAI LE,NEW TAI LUE,TAI THAM,TAI VIET,AHOM,JAVANESE,BALINESE,BUGINESE,BATAK,YI SYLLABLE".split(
        ","
    )
)
EMOJI = ranges(
    "231A-231B 23E9-23F3 23F8-23FA 2600-2605 2607-2612 2614-2685 2690-2705 2708-2712 2714 2716 271D 2721 2728 2733-2734 2744 "
    "2747 274C 274E 2753-2755 2757 2763-2767 2795-2797 27A1 27B0 27BF 2B1B-2B1C 2B50 2B55 1F000-1F0FF 1F170-1F171 1F17E-1F17F "
    "1F18E 1F191-1F19A 1F1E6-1F1FF 1F300-1F53D 1F546-1F64F 1F680-1F6FF 1F7D5-1F7FF 1F90C-1FAFF 1FC00-1FFFD"
)


def is_spaceless(character):
    """Whether it is a letter or mark of a script that writes no spaces between words."""
    return unicodedata.category(character)[0] in "LM" and unicodedata.name(character, "").startswith(SPACELESS_NAMES)


@cache
def is_single(character, version=1):
    """Whether it is a token by itself."""
    return is_cjk(character) or (version == 2 and (is_spaceless(character) or character in EMOJI))


def is_in_token(character, version=1):
    return unicodedata.category(character)[0] in "LMN" or is_single(character, version)


@lru_cache(1 << 14)
def tokens(text, version=1):
    """The tokens of a text after normalization."""
    return words(normalize(text), version)


def characters(text, version=1):
    """The letters, marks and numbers of a text, and its emoji."""
    return [character for character in text if is_in_token(character, version)]


def between_spaces(text, version=1):
    """What stands between white space and holds a letter, mark or number, or an emoji."""
    parts = "".join(" " if c in WHITE_SPACE else c for c in text).split(" ")
    return [part for part in parts if characters(part, version)]


def words(text, version=1):
    """The runs of letters, marks and numbers of a text; Han and Kana characters one by one, and others by the version."""
    found, run = [], ""
    for character in [*text, " "]:
        inside = is_in_token(character, version)
        if inside and not is_single(character, version):
            run += character
            continue
        if run:
            found.append(run)
            run = ""
        if inside:
            found.append(character)
    return found


def windows(found, word_size, cjk_size, version=1):
    """The windows of tokens that start at each token; the whole text if it is shorter than all of them."""
    sizes = [cjk_size if is_single(token[0], version) else word_size for token in found]
    whole = [tuple(found[i : i + size]) for i, size in enumerate(sizes) if i + size <= len(found)]
    return whole or ([tuple(found)] if found else [])


@lru_cache(1 << 14)
def shingle_counts(text, version=1):
    """How often each window of 3 words or 5 Han or Kana characters occurs."""
    return Counter(windows(tokens(text, version), 3, 5, version))


def jaccard(a, b, version=1):
    left, right = set(shingle_counts(a, version)), set(shingle_counts(b, version))
    return len(left & right) / len(left | right)


def weighted_jaccard(a, b, version=1):
    left, right = shingle_counts(a, version), shingle_counts(b, version)
    return (left & right).total() / (left | right).total()


def containment(a, b, version=1):
    left, right = set(shingle_counts(a, version)), set(shingle_counts(b, version))
    return len(left & right) / min(len(left), len(right)) if left and right else 0.0


def cosine(a, b, *, word_shingle=1, cjk_shingle=2, weights="log", tokens=tokens, version=1):
    """Of the weights that a recipe gives to its features. `tokens`: `words` if the texts are normalized already."""
    left, right = (
        {
            window: WEIGHTS[weights](count)
            for window, count in Counter(windows(tokens(text, version), word_shingle, cjk_shingle, version)).items()
        }
        for text in (a, b)
    )
    norms = sum(weight**2 for weight in left.values()), sum(weight**2 for weight in right.values())
    product = sum(weight * right.get(window, 0) for window, weight in left.items())
    return product / sqrt(norms[0] * norms[1]) if product else 0.0


def levenshtein(a, b):
    """The fewest items to insert, delete or replace that make one sequence of the other."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def edit_similarity(a, b, version=1):
    left, right = tokens(a, version), tokens(b, version)
    longest = max(len(left), len(right))
    return (longest - levenshtein(left, right)) / longest


SIMILARITIES = {
    "jaccard": jaccard,
    "weighted": weighted_jaccard,
    "containment": containment,
    "cosine": cosine,
    "edit": edit_similarity,
}


def similarity(a, b, kind="jaccard", *, version=1, **options):
    """Of two texts; of two without any token, whether they are equal after normalization."""
    if not tokens(a, version) and not tokens(b, version):
        return float(normalize(a) == normalize(b))
    return SIMILARITIES[kind](a, b, version=version, **options)


def similarity_of_items(kind, a, b):
    """Of two sequences of items, the elements of two given sets or the shingles of two texts; of two without any, 1."""
    if not a or not b:
        return float(not a and not b)
    left, right = Counter(a), Counter(b)
    if kind == "edit":
        return (max(len(a), len(b)) - levenshtein(a, b)) / max(len(a), len(b))
    if kind == "weighted":
        return (left & right).total() / (left | right).total()
    if kind == "cosine":
        x, y = ({item: WEIGHTS["log"](count) for item, count in each.items()} for each in (left, right))
        product = sum(weight * y.get(item, 0) for item, weight in x.items())
        return product / sqrt(sum(w**2 for w in x.values()) * sum(w**2 for w in y.values())) if product else 0.0
    common = len(set(a) & set(b))
    return common / (min(len(left), len(right)) if kind == "containment" else len(set(a) | set(b)))


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


def fixed_point(weight):
    """The nearest multiple of 2^-16, of two the upper, as an integer."""
    return floor(weight * 65536 + 0.5)


def inverse_document_frequency(count, documents):
    """As if one more document had every feature."""
    return 1 + log((1 + documents) / (1 + count))


def document_frequencies(texts, *, word_shingle=1, cjk_shingle=2):
    """In how many texts each feature occurs."""
    return Counter(w for text in texts for w in set(windows(tokens(text), word_shingle, cjk_shingle)))


def tfidf(text, corpus, *, word_shingle=1, cjk_shingle=2):
    """What each feature of a text weighs, in 2^-16, by how rare it is in a corpus."""
    frequencies = document_frequencies(corpus, word_shingle=word_shingle, cjk_shingle=cjk_shingle)
    return {
        window: count * fixed_point(inverse_document_frequency(frequencies[window], len(corpus)))
        for window, count in Counter(windows(tokens(text), word_shingle, cjk_shingle)).items()
    }


def textrank(sequence, *, window=5, damping=0.85, rounds=30):
    """The score of each distinct member: what others that stand fewer than `window` places away give, in equal shares."""
    near = {member: [] for member in sequence}
    for i, a in enumerate(sequence):
        for b in sequence[i + 1 : i + window]:
            if a != b:
                near[a].append(b)
                near[b].append(a)
    scores = dict.fromkeys(near, 1.0)
    for _ in range(rounds):
        shares = {member: score / max(len(near[member]), 1) for member, score in scores.items()}
        given = {member: reduce(add, (shares[other] for other in near[member]), 0.0) for member in near}
        scores = {member: (1 - damping) + damping * value for member, value in given.items()}
    return scores


def keyword_weights(words, idf):
    """cppjieba's: how often each word of two characters or more occurs times its idf; the mean where it has none."""
    mean = reduce(add, idf.values()) / len(idf)
    return {word: count * idf.get(word, mean) for word, count in Counter(words).items() if len(word) > 1}


def heap_sorted(items, most, lighter):
    """What std::partial_sort of GNU's C++ library makes of a list: the `most` heaviest items, the heaviest first.

    As written in its bits/stl_heap.h and stl_algo.h. `lighter(a, b)`: whether a weighs less than b.
    """
    items = list(items)
    most = min(most, len(items))

    def adjust(hole, length, value):
        top = child = hole
        while child < (length - 1) // 2:
            child = 2 * (child + 1)
            if lighter(items[child - 1], items[child]):
                child -= 1
            items[hole], hole = items[child], child
        if length % 2 == 0 and child == (length - 2) // 2:
            child = 2 * (child + 1)
            items[hole], hole = items[child - 1], child - 1
        parent = (hole - 1) // 2
        while hole > top and lighter(value, items[parent]):
            items[hole], hole = items[parent], parent
            parent = (hole - 1) // 2
        items[hole] = value

    def pop(last, result):
        value, items[result] = items[result], items[0]
        adjust(0, last, value)

    if most >= 2:  # make_heap
        for parent in range((most - 2) // 2, -1, -1):
            adjust(parent, most, items[parent])
    for i in range(most, len(items)):
        if most and lighter(items[0], items[i]):
            pop(most, i)
    for last in range(most - 1, 0, -1):  # sort_heap
        pop(last, last)
    return items[:most]


def keywords_of_cppjieba(words, idf, most):
    """Its keywords with their weights, in its order: from a map by bytes, by a partial sort."""
    weighted = keyword_weights(words, idf)
    by_bytes = sorted(weighted.items(), key=lambda pair: pair[0].encode())
    return heap_sorted(by_bytes, most, lambda a, b: a[1] < b[1])


def simhash_in_doubles(weighted, bits):
    """As `simhash`, but sums are floating-point numbers, rounded after each of the (hash, weight) pairs."""
    totals = [
        reduce(add, (weight if value >> bit & 1 else -weight for value, weight in weighted), 0.0) for bit in range(bits)
    ]
    return sum((total > 0) << bit for bit, total in enumerate(totals))


def simhash(weighted, bits):
    """Charikar's SimHash of (hash, weight) pairs: per bit, the sign of the sum of +weight for 1 and -weight for 0."""
    fingerprint = 0
    for bit in range(bits):
        total = sum(weight if value >> bit & 1 else -weight for value, weight in weighted)
        fingerprint |= (total > 0) << bit
    return fingerprint


def fingerprint(text, *, word_shingle=1, cjk_shingle=2, weights="log", bits=128, tokens=tokens, version=1):
    """`tokens`: `words` if the text is normalized already."""
    counts = Counter(windows(tokens(text, version), word_shingle, cjk_shingle, version))
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


def first_of_clusters(order, clusters, most):
    """The documents that stay, if the first `most` of each cluster do: of an order of preference, and sets that are apart."""
    cluster_of = {member: tuple(sorted(members)) for members in clusters for member in members}
    counts, found = Counter(), set()
    for document in order:
        cluster = cluster_of.get(document, (document,))
        counts[cluster] += 1
        if counts[cluster] <= most:
            found.add(document)
    return found


def in_no_pair(n, pairs):
    """The documents that match no other."""
    return set(range(n)) - {document for pair in pairs for document in pair}


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


def set_similarity(kind, a, b):
    """Of two sets of elements; of two dicts from elements to weights for the cosine."""
    if kind == "cosine":
        norms = sum(w * w for w in a.values()) * sum(w * w for w in b.values())
        return sum(w * b.get(x, 0.0) for x, w in a.items()) / norms**0.5
    common = len(set(a) & set(b))
    whole = {"jaccard": len(set(a) | set(b)), "containment": min(len(a), len(b)), "edit": max(len(a), len(b))}
    return common / whole[kind]


def similar_sets(kind, sets, least):
    """Every pair of indexes of sets at least so similar, by looking at all of them."""
    return {(i, j) for j in range(len(sets)) for i in range(j) if set_similarity(kind, sets[i], sets[j]) >= least}


def could_reach(kind, a, b, common, least):
    """Whether sets of a and b elements, so many of which are common, are at least so similar."""
    whole = {"jaccard": a + b - common, "containment": min(a, b), "edit": max(a, b)}
    return common / whole[kind] >= least


def first_frequent(sets, counts, least, most):
    """The elements that so many sets have, or more, in the order of the sets and of the elements of each; at most so many."""
    met = dict.fromkeys(element for some in sets for element in sorted(some) if counts[element] >= least)
    return set(list(met)[:most])


def pairs_meeting_at(kind, sets, least, element):
    """Every pair of indexes of sets at least so similar whose first common element, ascending, is this one."""
    return {(i, j) for i, j in similar_sets(kind, sets, least) if min(set(sets[i]) & set(sets[j])) == element}


def seeded(seed, purpose, count):
    """`count` 64-bit integers."""
    stream = shake_128(f"neardup minhash {purpose} {seed}".encode()).digest(8 * count)
    return [int.from_bytes(stream[8 * i : 8 * i + 8], "little") for i in range(count)]


M64 = (1 << 64) - 1


def avalanche(value):
    """The finalizer of XXH64."""
    value = (value ^ value >> 33) * 0xC2B2AE3D27D4EB4F & M64
    value = (value ^ value >> 29) * 0x165667B19E3779F9 & M64
    return value ^ value >> 32


def rank(number, place, values):
    """The place that a number gives to one of so many bins, its own bin at 0."""
    bits = max(1, (values - 1).bit_length())
    own, size, half = (number >> 32) * values >> 32, 1 << bits, (bits + 1) // 2
    found = (number | 1) * (place - own) % size
    found ^= found >> half
    found = (number >> 10 | 1) * found % size
    return found ^ found >> half


def signature(hashes, *, values=128, kind="one-permutation", bits=32, seed=1):
    """The MinHash of a set of 64-bit hashes, under one permutation with ranked bins or under many; zeros for no hashes."""
    if not hashes:
        return [0] * values
    [key] = seeded(seed, "key", 1)
    multipliers, addends = (seeded(seed, purpose, values) for purpose in ("multipliers", "addends"))
    mixed = [avalanche(value ^ key) for value in hashes]
    lower = 64 - max(1, (values - 1).bit_length())
    found = []
    for j in range(values):
        if kind == "one-permutation":
            place, low = min((rank(number, j, values), number % (1 << lower)) for number in mixed)
            least = place << lower | low
        else:
            least = min(((multipliers[j] | 1) * number + addends[j]) & M64 for number in mixed)
        found.append(avalanche(least ^ addends[j]) & ((1 << bits) - 1))
    return found


def pairs_in_bands(signatures, sizes, bands, rows):
    """Every (left, right) of signatures of which all values of a band agree, but for those of size 0."""
    found = set()
    for band in range(bands):
        buckets = {}
        for row, values in enumerate(signatures):
            if sizes[row]:
                buckets.setdefault(tuple(values[band * rows : (band + 1) * rows]), []).append(row)
        found.update(pair for members in buckets.values() for pair in combinations(members, 2))
    return sorted(found)


BLANK = " \t\v\f\r\u00a0\u3000" + "".join(map(chr, range(0x2000, 0x200C)))


def units(text, unit):
    """A text as [what comes before, unit, separator, unit, … , unit, what comes after]."""
    lines, found = [], [""]
    for line in re.findall(r"[^\n]*\n|[^\n]+\Z|\Z", text):  # each with its newline
        body = line.removesuffix("\n").removesuffix("\r")
        lines.append((body, line[len(body) :]))
        if not line.endswith("\n"):
            break
    for body, end in lines:
        if unit == "paragraph" and not body.strip(BLANK):
            found[-1] += body + end
        elif unit == "paragraph" and len(found) > 1 and found[-1] in ("\n", "\r\n"):
            found[-2:] = [found[-2] + found[-1] + body, end]
        else:
            found += [body, end]
    return found


def without_units(text, unit, removed):
    """The text without units of some numbers, each gone with its separator; it ends as it did."""
    before, *parts = units(text, unit)
    bodies, separators = parts[::2], parts[1::2]
    if not bodies:
        return text
    kept = [i for i in range(len(bodies)) if i not in removed]
    written = "".join(bodies[i] + separators[i] for i in kept[:-1]) + "".join(bodies[i] for i in kept[-1:])
    return before + written + separators[-1]


def repeated_units(texts, unit):
    """(text, unit) of each unit with a token that has the shingles of an earlier one, with the first such one's place."""
    first, found = {}, {}
    for row, text in enumerate(texts):
        for number, body in enumerate(units(text, unit)[1::2]):
            if tokens(body):
                earlier = first.setdefault(frozenset(windows(tokens(body), 3, 5)), (row, number))
                if earlier != (row, number):
                    found[row, number] = earlier
    return found


def placed_windows(found, version=1):
    """Where each window of 3 words or 5 Han or Kana characters starts that the tokens have, and the window."""
    sizes = [5 if is_single(token[0], version) else 3 for token in found]
    return [(i, tuple(found[i : i + size])) for i, size in enumerate(sizes) if i + size <= len(found)]


def item_share(item, document, version=1):
    """The share of the item's windows in the passage of the document, twice as long as the item, that has most of them; both as tokens."""
    wanted, there = {window for _, window in placed_windows(item, version)}, placed_windows(document, version)
    reach = 2 * len(item)
    counts = [len({window for place, window in there if first <= place < first + reach} & wanted) for first, _ in there]
    return max(counts, default=0) / len(wanted)


def longest_run(a, b):
    """The length of the longest run of tokens that two sequences have in common."""
    return max((n for n in range(1, len(a) + 1) for i in range(len(a) - n + 1) if is_run(a[i : i + n], b)), default=0)


def is_run(run, sequence):
    return any(sequence[i : i + len(run)] == run for i in range(len(sequence) - len(run) + 1))


INLINE = (
    "a abbr b bdi bdo big cite code em font i ins del kbd mark q s samp small span strike strong sub sup tt u var wbr"
)
NUMBER = (
    r"[^\S\n]*(?:[>|#*][^\S\n]*)*([\[(（]?)((?:[0-9]{1,3}\.){0,3})([0-9０-９]{1,4})([、．）]|[\])}.:]{0,2}(?=\s|$))"
)


def without_markup(text, is_word):
    """A text without character references, tags of HTML, numbers of lines, and hyphens at ends of lines that divide a word."""

    def character(found):
        reference = "&" + found[1].removesuffix(";") + ";"
        return found[0] if html.unescape(reference) == reference else html.unescape(reference)

    text = re.sub(r"&(?:amp;)*(#[0-9]{1,7};|#[xX][0-9a-fA-F]{1,6};|[a-zA-Z][a-zA-Z0-9]{1,31};|nbsp\b)", character, text)
    inline, block = INLINE.replace(" ", "|"), "p|div|br|td|tr|li"
    text = re.sub(
        rf"(?is)<!--.{{0,1000}}?-->|</?(?:{inline}|({block}))(?:[\s/][^<>]*)?>",
        lambda found: "\n" if found[1] else "",
        text,
    )
    lines, numbered, last = text.split("\n"), {}, {}
    for place, line in enumerate(lines):
        if found := re.match(NUMBER, line):
            form, number = (found[1], found[2], found[4]), int(found[3])
            if form in last and abs(number - last[form][0]) == 1:
                numbered |= {last[form][1]: last[form][2], place: found}
            last[form] = number, place, found
    for place, found in numbered.items():
        lines[place] = found.string[: found.start(1)] + found.string[found.end(4) :]
    return re.sub(
        r"([^\W_]+)[-\u2010\u00ac\u00ad][^\S\n]*\n[\s>|]*(?=([^\W_]+))",
        lambda found: found[1] if is_word(found[1], found[2]) else found[0],
        "\n".join(lines),
    )


def item_forms(item, min_tokens, version=1):
    """The tokens of an item as it stands, and without markup."""
    other = tokens(without_markup(item, lambda left, right: left[-1].islower() and right[0].islower()), version)
    return [tokens(item, version), *([other] if len(other) >= min_tokens else [])]


def held_items(document, items, min_share, min_run, min_tokens, version=1):
    """The items of at least so many tokens that the document holds: number, share, run (0 under 5 tokens); the strongest first.

    Of items with the same tokens, the first stands for all. Documents and items are read as they stand, and without markup; the
    strongest of what two readings have in common counts.
    """
    checked = {
        number: item_forms(item, min_tokens, version)
        for number, item in enumerate(items)
        if len(tokens(item, version)) >= min_tokens
    }
    words = {token for forms in checked.values() for form in forms for token in form}
    other = without_markup(
        document, lambda left, right: unicodedata.normalize("NFKC", left + right).casefold() in words
    )
    found, firsts = {}, {}
    for number, forms in checked.items():
        first = firsts.setdefault(tuple(forms[0]), number)
        for reading in (document, other):
            for form in forms:
                there = tokens(reading, version)
                share, run = item_share(form, there, version), longest_run(form, there)
                run = run if run >= 5 else 0
                if share >= min_share or run >= min_run:
                    found[first] = max(found.get(first, (0, 0)), (share, run))
    return sorted(((number, *of) for number, of in found.items()), key=lambda each: (-each[1], -each[2], each[0]))
