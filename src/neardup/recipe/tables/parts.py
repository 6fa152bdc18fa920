"""The names that a recipe may use, and the versions of everything that decides bits. Imports no compiled code."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from neardup.recipe.tables.hashes import HASHES as FEATURE_HASHES
from neardup.recipe.tables.hashes import NativeHash

NormalizerName = Literal[
    "nfkc_casefold",
    "nfkc",
    "casefold",
    "lower",
    "digits",
    "punctuation",
    "marks",
    "letters",
    "word_breaks",
    "simplified",
    "shinjitai",
]
WeightName = Literal["uniform", "tf", "log", "sqrt", "tfidf", "textrank", "cppjieba", "jieba_tfidf", "jieba_textrank"]
HashName = Literal["xxh3", NativeHash]

NORMALIZERS = {
    "nfkc_casefold": "NFKC case folding, white space collapsed, invisible characters removed",
    "nfkc": "NFKC: full-width letters, ligatures and similar characters become plain ones",
    "casefold": "full case folding: ß becomes ss",
    "lower": "lower case: ß stays",
    "digits": "each decimal digit becomes 0",
    "punctuation": "punctuation is removed, and the text on both sides is joined",
    "marks": "accents, Arabic vowel signs, Hebrew and Syriac points and tatweel are removed",
    "letters": "variants of alef, ye and kaf, and final forms of Hebrew and Greek letters, become one letter",
    "word_breaks": "zero width spaces (U+200B), which would be removed, become spaces",
    "simplified": "traditional Chinese becomes simplified, by OpenCC: the extra [zh]",
    "shinjitai": "old forms of Japanese kanji become new ones, by OpenCC: the extra [zh]",
}
"""The normalizers, which are applied to a text in the recipe's order before it is cut into tokens."""
FOLDING: Final = ("nfkc_casefold",)
"""The default normalizers. Similarities compare texts in this form, after the normalizers of the recipe."""
NORMALIZER_PACKAGES = dict.fromkeys(("simplified", "shinjitai"), ("opencc",))
"""The distributions that decide the result of a normalizer; a recipe's digest has their versions."""
WEIGHTS = {
    "uniform": "1",
    "tf": "its count in the text, c",
    "log": "1 + floor(log2 c)",
    "sqrt": "the square root of c",
    "tfidf": "c times its rarity among the documents of document_frequencies",
    "textrank": "its centrality in the graph of neighboring features",
    "cppjieba": "c times the idf of a word of two or more characters, as in cppjieba: the extra [zh]",
    "jieba_tfidf": "as extract_tags of the package jieba, which also cuts the texts: the extra [zh]",
    "jieba_textrank": "as textrank of the package jieba, which also cuts the texts: the extra [zh]",
}
"""The weights of a feature, where c is its count in the text."""
COUNTED = ("uniform", "tf", "log", "sqrt")
"""Weights that depend on the count alone."""
WEIGHT_PACKAGES = dict.fromkeys(("cppjieba", "jieba_tfidf", "jieba_textrank"), ("jieba",))
"""The distributions that decide weights; a recipe's digest has their versions."""
BY_LENGTH: Final = "by_length"
"""The value of `keywords` for cppjieba's number of keywords: one per 120 bytes of text, at least 5, at most 200."""
NOT_OF_TOKENS = ("weights", "hash", "bits", "min_tokens", "keywords", "document_frequencies")
"""The fields that decide bits, but not the features of a text."""
HASHES = ("xxh3", *FEATURE_HASHES)
UNICODE = "14.0.0"
VERSION = 1
"""The version of a recipe and of a similarity that does not say otherwise. A version of its own has whatever changes a bit."""
VERSIONS = {
    1: "runs of letters, marks and numbers; each Han or Kana character by itself",
    2: "also each letter of Thai, Khmer, Lao, Burmese and other scripts without spaces, and each emoji, by itself",
}
"""The tokens of each version."""
FIRST_FIELDS = ("word_shingle", "cjk_shingle", "weights", "hash", "bits", "min_tokens")
"""The fields that are always in a digest. Others are in it only if they differ from their defaults, so new fields change none."""

FILES: Final = "files"
"""The entry of a stored recipe that has the files it needs; no digest depends on it."""
OF: Final = "of"
"""The entry of a stored recipe that says what it is of, TEXTS or ELEMENTS, if its fields could be of both; no digest has it."""
TEXTS, ELEMENTS = "texts", "elements"
NOT_DECIDING = (FILES, OF)
"""Entries of a stored recipe that are no fields, and decide no bits."""
OF_TEXTS = (
    "normalize",
    "segmenter",
    "word_shingle",
    "cjk_shingle",
    "mode",
    "hmm",
    "dictionary",
    "stop_words",
    "profile",
    "version",
)
"""The fields of a recipe that say how a text becomes features; given elements are features already."""


def folds_last(steps: Sequence[Any]) -> bool:
    """Whether the steps that normalize texts leave them folded."""
    return tuple(steps[-1:]) == FOLDING


def digest_of(values: Mapping[str, Any]) -> str:
    """The digest of a recipe of any kind with these values from `as_dict` or `stored`, 16 hexadecimal digits."""
    deciding = {name: value for name, value in values.items() if name not in NOT_DECIDING}
    canonical = json.dumps(deciding, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
