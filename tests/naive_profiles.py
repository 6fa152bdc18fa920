"""What other tools do, slowly and obviously: one bit after another, hashes by packages or bit by bit."""

import hashlib
import re

import xxhash

from naive_hashes import crc32c


def simhash(hashes, bits, *, tie=0):
    """Of integers, one for each occurrence; bit 0 is the lowest."""
    value = 0
    for bit in range(bits):
        total = sum(1 if h >> bit & 1 else -1 for h in hashes)
        value |= (tie if total == 0 else int(total > 0)) << bit
    return value


def turned_around(value, bits):
    return sum((value >> bit & 1) << (bits - 1 - bit) for bit in range(bits))


def md5_first(data):
    return int(hashlib.md5(data).hexdigest()[:16], 16)


def moz_windows(items, size, between):
    starts = [start for start in range(len(items)) if start + size <= len(items)]
    return simhash([md5_first(between.join(items[start : start + size]).encode()) for start in starts], 64)


def moz(text, size=4):
    return moz_windows(re.split(r"\W+", text.lower()), size, " ")


def moz_character(text, size=4):
    return moz_windows("".join(re.split(r"\W+", text.lower())), size, "")


def data_juicer(text, size=6):
    return moz_windows([word for word in re.split(" ", text.lower()) if word != ""], size, " ")


def data_juicer_character(text, size=6):
    return moz_windows(list(text.lower()), size, "")


def text_dedup_0_3_0(text, size=3):
    words = [word for word in text.split(" ") if word != ""]
    runs = []
    while words:
        runs.append(" ".join(words[:size]))
        words = words[size:]
    return simhash([xxhash.xxh64_intdigest(run.encode()) for run in runs], 64)


def text_dedup_characters(text, size=3, bits=64, *, lower, digest64, digest128):
    if len(text) < 5:
        return 0
    found = {text[i : i + size] for i in range(max(len(text) - size + 1, 1))}
    digest = digest64 if bits == 64 else digest128
    return simhash([digest(each.encode()) for each in {each.lower() if lower else each for each in found}], bits)


def text_dedup_0_3_1(text, size=3, bits=64):
    digests = {"digest64": xxhash.xxh64_intdigest, "digest128": xxhash.xxh3_128_intdigest}
    return text_dedup_characters(text, size, bits, lower=False, **digests)


def text_dedup_0_4_0(text, size=3, bits=64):
    digests = {"digest64": xxhash.xxh3_64_intdigest, "digest128": xxhash.xxh3_128_intdigest}
    return text_dedup_characters(text, size, bits, lower=True, **digests)


def text_dedup_0_4_1(text, size=3, bits=64):
    digest = xxhash.xxh3_64_intdigest if bits == 64 else xxhash.xxh3_128_intdigest
    words = re.findall(r"\w+", text.lower())
    if len(words) < 5:
        return 0
    found = {" ".join(words[i : i + size]) for i in range(max(len(words) - size + 1, 1))}
    return simhash([digest(each.encode(), 42) for each in found], bits)


def ferd(text, name="sha1"):
    data = text.encode()
    pairs = [data[at : at + 2] for at in range(len(data)) if 1 <= at <= len(data) - 3]
    digests = [hashlib.new(name, pair).digest() for pair in pairs]
    bits = 8 * hashlib.new(name).digest_size
    return turned_around(simhash([int.from_bytes(each, "big") for each in digests], bits, tie=1), bits)


def clickhouse_ngram(text, size=3, any_case=False):
    data = bytes(byte | 0x20 for byte in text.encode()) if any_case else text.encode()
    if not data:
        return 2**64 - 1
    if len(data) < size:
        return crc32c(data)
    return simhash([crc32c(data[at : at + size]) for at in range(len(data) + 1 - size)], 64)


def clickhouse_words(text, size=3):
    words = [word for word in re.findall(rb"[a-zA-Z0-9\x80-\xff]+", text.encode()) if len(word) > 3]
    if not words:
        return 0
    rows = [words[at : at + size] for at in range(max(1, len(words) + 1 - size))]
    return simhash([crc32c(b"".join(row)) for row in rows], 64)
