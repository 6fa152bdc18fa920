"""The profiles by name, and the fields that a recipe may set beside a profile. Imports no compiled code."""

from typing import Literal

_EIGHTS = tuple(range(8, 129, 8))

ProfileName = Literal[
    "leonsim",
    "moz",
    "moz-character",
    "mfonda",
    "mfonda-unicode",
    "mfonda-cjk",
    "ferd",
    "ferd-md5",
    "ferd-sha512",
    "ferd-phash",
    "clickhouse-ngram",
    "clickhouse-ngram-any-case",
    "clickhouse-ngram-utf8",
    "clickhouse-ngram-utf8-any-case",
    "clickhouse-words",
    "clickhouse-words-any-case",
    "data-juicer",
    "data-juicer-character",
    "data-juicer-punctuation",
    "text-dedup-0.3.0",
    "text-dedup-0.3.1",
    "text-dedup-0.4.0",
    "text-dedup-0.4.1",
    "wayback",
]
PROFILES: dict[ProfileName, tuple[tuple[int, ...], str]] = {
    "leonsim": ((64, *_EIGHTS), "PyPI simhash: windows of 4 characters, the last bytes of MD5"),
    "moz": ((64,), "Moz's simhash-py as in its README: windows of 4 words, the first bytes of MD5"),
    "moz-character": ((64,), "the same as in its tests: windows of 4 characters of the joined words"),
    "mfonda": ((64,), "mfonda/simhash (Go): ASCII words, FNV-1; a tie is 1, an empty text all ones"),
    "mfonda-unicode": ((64,), "the same with words of any script"),
    "mfonda-cjk": ((64,), "the same with code points"),
    "ferd": ((160,), "ferd/simhash (Erlang): pairs of bytes, SHA-1; a tie is 1, bits in reverse order"),
    "ferd-md5": ((128,), "the same with MD5"),
    "ferd-sha512": ((512,), "the same with SHA-512"),
    "ferd-phash": ((32,), "the same with Erlang's phash2"),
    "clickhouse-ngram": ((64,), "ClickHouse's ngramSimHash: windows of 3 bytes; CRC-32C, so only 32 of 64 bits vary"),
    "clickhouse-ngram-any-case": ((64,), "ngramSimHashCaseInsensitive"),
    "clickhouse-ngram-utf8": ((64,), "ngramSimHashUTF8: windows of 3 code points except the first"),
    "clickhouse-ngram-utf8-any-case": ((64,), "ngramSimHashCaseInsensitiveUTF8"),
    "clickhouse-words": ((64,), "wordShingleSimHash and wordShingleSimHashUTF8: windows of 3 words of 4 bytes or more"),
    "clickhouse-words-any-case": ((64,), "wordShingleSimHashCaseInsensitive and wordShingleSimHashCaseInsensitiveUTF8"),
    "data-juicer": ((64,), "data-juicer: windows of 6 words, otherwise as moz; its distance is 4"),
    "data-juicer-character": ((64,), "the same with windows of 6 characters"),
    "data-juicer-punctuation": ((64,), "the same with windows of 6 pieces between punctuation marks"),
    "text-dedup-0.3.0": ((64,), "text-dedup 0.3.0: runs of 3 words, XXH64; the extra [profiles]"),
    "text-dedup-0.3.1": ((64, 128), "text-dedup 0.3.1: distinct windows of 3 characters, XXH64; the extra [profiles]"),
    "text-dedup-0.4.0": ((64, 128), "text-dedup 0.4.0: distinct windows of 3 characters, lowercased, XXH3"),
    "text-dedup-0.4.1": (
        (64, 128),
        "text-dedup 0.4.1: distinct windows of 3 words, XXH3 with seed 42; the extra [profiles]",
    ),
    "wayback": ((256, *range(8, 513, 8)), "web.archive.org's changes: words of an HTML page, BLAKE2b"),
}
"""The widths of each profile, the usual one first, and its description.

`neardup.fingerprints.profiles.tools` has the profiles themselves.
"""

DISTANCES = {
    "leonsim": 2,
    "data-juicer": 4,
    "data-juicer-character": 4,
    "data-juicer-punctuation": 4,
}
"""The default distance of a tool, if it is not 3."""

WINDOWED = ("moz", "clickhouse", "data-juicer", "text-dedup")
"""Prefixes of the names of profiles that accept `profile_window`, another size of their windows."""

NOT_DECIDED = ("profile", "profile_window", "bits", "min_tokens", "max_distance")
"""The fields that a recipe with a profile may set."""
