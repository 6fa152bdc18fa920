"""What a recipe may name, and the versions of what decides bits: importing this loads no compiled code."""

from neardup.recipe.hashes import HASHES as FEATURE_HASHES

NORMALIZERS = {
    "nfkc_casefold": "NFKC case folding, white space made one, what is invisible dropped",
    "nfkc": "NFKC: full-width letters, ligatures and the like become plain ones",
    "casefold": "full case folding: ß becomes ss",
    "lower": "lower case: ß stays",
    "digits": "each decimal digit becomes 0",
    "punctuation": "punctuation is removed: what stood on both sides of it stands together",
    "simplified": "traditional Chinese becomes simplified, by OpenCC: the extra [zh]",
}
"""What may be done to a text, in the order given, before it is cut into tokens."""
NORMALIZER_PACKAGES = {"simplified": ("opencc",)}
"""The distributions that decide what a normalizer gives: their versions are part of a recipe's digest."""
WEIGHTS = {
    "uniform": "1",
    "tf": "how often it occurs, c",
    "log": "1 + floor(log2 c)",
    "sqrt": "the square root of c",
    "tfidf": "c times how rare it is among the documents of document_frequencies",
    "textrank": "how central it is in the graph of features that stand near one another",
    "cppjieba": "c times the idf of a word of two characters or more, as cppjieba finds keywords: the extra [zh]",
    "jieba_tfidf": "as extract_tags of the package jieba, which cuts the texts, too: the extra [zh]",
    "jieba_textrank": "as textrank of the package jieba, which cuts the texts, too: the extra [zh]",
}
"""What a feature weighs by its count c in the text, and by more."""
COUNTED = ("uniform", "tf", "log", "sqrt")
"""Weights that are a matter of the count alone."""
WEIGHT_PACKAGES = dict.fromkeys(("cppjieba", "jieba_tfidf", "jieba_textrank"), ("jieba",))
"""The distributions that decide what weights are: their versions are part of a recipe's digest."""
BY_LENGTH = "by_length"
"""`keywords` as many as cppjieba takes of a text: one for 120 bytes, at least 5, at most 200."""
NOT_OF_TOKENS = ("weights", "hash", "bits", "min_tokens", "keywords", "document_frequencies")
"""What decides bits, but not which features a text has."""
HASHES = ("xxh3", *FEATURE_HASHES)
UNICODE = "14.0.0"
VERSION = 1
"""Grows with any change of the kernels that changes a bit."""
FIRST_FIELDS = ("word_shingle", "cjk_shingle", "weights", "hash", "bits", "min_tokens")
"""Always in a digest; others only where they are not as by default: a new field changes no digest."""
