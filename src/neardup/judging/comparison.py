"""Compare two texts step by step in plain Python, as the kernels would; compute SimHash from given features."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa

from neardup.display import SHOWN_ROWS, counted, html_table, similarity_text
from neardup.errors import DECODER_ERRORS, DataError, InputError, OptionError
from neardup.fingerprints.by_features import hashes_of
from neardup.fingerprints.features import weighted_features
from neardup.fingerprints.profiles.profile import as_integer
from neardup.fingerprints.profiles.tools import PROFILES
from neardup.fingerprints.weights.table import CPPJIEBA, unit
from neardup.io.formats.json.json_values import unique_members
from neardup.io.storage.places import local_path
from neardup.kernels.xxh3 import xxh3_64, xxh3_128
from neardup.matching.similarities.compare_texts import similarities_to
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.stored_parts import available
from neardup.recipe.tables.similarities import CJK_SHINGLE, WORD_SHINGLE, SimilarityName
from neardup.text.normalizers import normalize, normalized
from neardup.text.tokenizers import tokens, windows


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature that votes: its name, its count in the text, its weight, and its hash as a string of 0 and 1."""

    name: str
    count: int
    weight: Decimal
    hash: str


@dataclass(frozen=True, slots=True)
class FingerprintSteps:
    """How one fingerprint was computed.

    Attributes:
        tokens: the tokens of the text; empty if features were given.
        features: the features, heaviest first.
        sums: the sum of the votes for each bit, most significant bit first; with weights="cppjieba", as that tool's floating-point
            sums come out, in the order of the features.
        bits: the fingerprint, as a string of 0 and 1.
    """

    tokens: tuple[str, ...]
    features: tuple[Feature, ...]
    sums: tuple[Decimal, ...]
    bits: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two fingerprints and what they say about each other.

    Attributes:
        left, right: how each fingerprint was computed.
        distance: Hamming distance between the two.
        estimated_cosine: cosine of the weighted features, estimated from the distance.
        similarity: Jaccard of the shingles, after the recipe's normalizers. This and all later fields are None if features were
            given.
        common_shingles, all_shingles: number of distinct shingles in both texts, and in either.
        similarities: every similarity of `neardup.recipe.tables.similarities.SIMILARITIES`, by name.
    """

    left: FingerprintSteps
    right: FingerprintSteps
    distance: int
    estimated_cosine: float
    similarity: float | None
    common_shingles: int | None
    all_shingles: int | None
    similarities: dict[str, float] | None

    def __repr__(self) -> str:
        alike = "" if self.similarity is None else f", similarity {similarity_text(self.similarity)}"
        return f"Comparison(distance {self.distance} of {counted(len(self.left.bits), 'bit')}{alike})"

    def _repr_html_(self) -> str:
        similarities = {"estimated cosine": self.estimated_cosine, **(self.similarities or {})}
        shown = [similarity_text(value) for value in similarities.values()]
        head = html_table(("distance", *similarities), [[self.distance, *shown]])
        names = ("", "feature", "count", "weight")
        heaviest = [
            (side, feature.name, feature.count, str(feature.weight))
            for side, steps in (("left", self.left), ("right", self.right))
            for feature in steps.features[: SHOWN_ROWS // 2]
        ]
        return head + html_table(names, heaviest, len(self.left.features) + len(self.right.features))


def simhash(
    features: Iterable[Feature], bits: int, number: type[Decimal] | type[float] = Decimal
) -> tuple[tuple[Decimal, ...], str]:
    """Sum the votes for each bit, +weight where the hash has 1 and -weight where it has 0; the bit is 1 if the sum is above 0.

    `number`: what is added: decimals, so that sums are exact, or floats in the given order, as in cppjieba.
    """
    sums: list[Any] = [number(0)] * bits
    with localcontext(prec=1000):
        for feature in features:
            weight = number(feature.weight)
            for bit, value in enumerate(feature.hash):
                sums[bit] += weight if value == "1" else -weight
    return tuple(map(_shortest, sums)), "".join("1" if total > 0 else "0" for total in sums)


def _shortest(number: Decimal | float) -> Decimal:
    """The decimal with the fewest digits that is read as this number."""
    return Decimal(str(number))


def _weight(count: int, weights: str) -> Decimal:
    if weights == "sqrt":
        return Decimal(int(math.sqrt(count) * 65536 + 0.5)) / 65536
    return Decimal({"uniform": 1, "tf": count, "log": count.bit_length()}[weights])


def _hash_bytes(content: bytes) -> int:
    return int(xxh3_64(np.frombuffer(bytearray(content), np.uint8), 0, len(content)))


def _little(*values: int) -> bytes:
    return b"".join(value.to_bytes(8, "little") for value in values)


def _wide(feature: int, bits: int) -> str:
    """Return the feature's hash at the fingerprint's width; see `neardup.kernels.fingerprints.votes.widen`."""
    words = (bits + 63) // 64
    found = [feature]
    if words > 1:
        inputs = [_little(feature), *(_little(feature, k) for k in range(1, (words + 1) // 2))]
        found = [
            int(word) for part in inputs for word in xxh3_128(np.frombuffer(bytearray(part), np.uint8), 0, len(part))
        ]
    return "".join(f"{word:064b}" for word in found[:words])[64 * words - bits :]


def _named_steps(text: str, recipe: Recipe) -> FingerprintSteps:
    """Same as `steps`, for a recipe whose features have names."""
    found = weighted_features(normalized(pa.array([text], pa.large_string()), recipe.normalize), recipe)
    of_text, tokens = found.features, found.features.tokens
    data, offsets = of_text.names()
    hashes, in_doubles = hashes_of(of_text, recipe), recipe.weights == CPPJIEBA
    features = [
        Feature(
            data[offsets[i] : offsets[i + 1]].tobytes().decode(),
            int(of_text.counts[i]),
            _shortest(found.weights[i]) if in_doubles else Decimal(int(found.weights[i])) / unit(recipe),
            "".join(f"{word:064b}" for word in hashes[i].tolist())[64 * recipe.words - recipe.bits :],
        )
        for i in range(len(of_text.hashes))
    ]
    if not in_doubles:  # their order decides sums, and is that of the tool
        features.sort(key=lambda feature: (-feature.weight, feature.name))
    sums, bits = simhash(features, recipe.bits, float if in_doubles else Decimal)
    return FingerprintSteps(tuple(tokens.text(i) for i in range(len(tokens.starts))), tuple(features), sums, bits)


def _profile_steps(text: str, recipe: Recipe) -> FingerprintSteps:
    """Same as `steps`, for a profile of another tool, which has its own features and may set a bit on a tie."""
    profile, bits = PROFILES[recipe.profile or ""], recipe.bits
    weighted = profile.features_of(text, recipe.profile_window)
    hashes, _, _ = profile.hashed([weighted], bits)
    shown = [f"{as_integer(row) & ((1 << bits) - 1):0{bits}b}" for row in hashes]
    if profile.reversed:
        shown = [found[::-1] for found in shown]
    features = [
        Feature(name.decode("utf-8", "backslashreplace"), weight, Decimal(weight), found)
        for (name, weight), found in zip(weighted, shown, strict=True)
    ]
    features.sort(key=lambda feature: (-feature.weight, feature.name))
    sums, _ = simhash(features, bits)
    return FingerprintSteps(
        (), tuple(features), sums, f"{as_integer(profile.fingerprint([text], bits, recipe.profile_window)[0]):0{bits}b}"
    )


def steps(text: str, recipe: Recipe) -> FingerprintSteps:
    """Return how the fingerprint of `text` is computed."""
    if recipe.profile is not None:
        return _profile_steps(text, recipe)
    if recipe.needs_names:
        return _named_steps(text, recipe)
    found = tokens(normalize(text, recipe.normalize), recipe.version)
    weights = available(recipe.weights, "weights")
    counts = Counter(windows(found, recipe.word_shingle, recipe.cjk_shingle, recipe.version))
    features = []
    for window, count in counts.items():
        hashes = [_hash_bytes(token.encode().ljust(16, b"\0")) for token in window]
        value = hashes[0] if len(hashes) == 1 else _hash_bytes(_little(*hashes))
        features.append(Feature(" ".join(window), count, _weight(count, weights), _wide(value, recipe.bits)))
    features.sort(key=lambda feature: (-feature.weight, feature.name))
    sums, bits = simhash(features, recipe.bits)
    return FingerprintSteps(tuple(found), tuple(features), sums, bits)


def _compare(left: FingerprintSteps, right: FingerprintSteps) -> tuple[int, float]:
    distance = sum(a != b for a, b in zip(left.bits, right.bits, strict=True))
    return distance, math.cos(math.pi * distance / len(left.bits))


def _two(keywords: Any) -> tuple[Any, Any] | None:
    """The values for the left and the right text."""
    if keywords is None:
        return None
    if not isinstance(keywords, (tuple, list)):
        return keywords, keywords
    if len(keywords) != 2:
        raise OptionError(f"`keywords={keywords!r}`: give a number, or two, of the left and of the right text.")
    return keywords[0], keywords[1]


def compare(
    left: str,
    right: str,
    *,
    recipe: RecipeLike | None = None,
    keywords: int | str | tuple[int | str, int | str] | None = None,
) -> Comparison:
    """Compare two texts and keep every step.

    `keywords`: the number of heaviest features that vote: one number for both texts, or a (left, right) pair. The recipe's own
    number if not given.

    The expected distance of two fingerprints of f bits is f / π times the angle between the weighted features, so their cosine
    is estimated as cos(π distance / f) (Charikar 2002, section 3).

    Raises:
        OptionError: a text is not a string.
        DataError: a text contains half of a surrogate pair.

    >>> result = compare("the cat sat on the mat", "the cat sat on a mat", recipe=Recipe(bits=64, max_distance=3))
    >>> result.common_shingles, result.all_shingles, round(result.similarity, 3)
    (2, 6, 0.333)
    """
    recipe, most = recipe_of(recipe), _two(keywords)
    for side, text in (("left", left), ("right", right)):
        if not isinstance(text, str):
            raise OptionError(f"The {side} text is a {type(text).__name__}; give a string.")
        try:
            text.encode()
        except UnicodeEncodeError as problem:
            raise DataError(
                f"The {side} text is not Unicode text: {problem.reason} (character {problem.start}). Give it in UTF-8."
            ) from None
    recipes = [recipe, recipe] if most is None else [replace(recipe, keywords=each) for each in most]
    a, b = (steps(text, each) for text, each in zip((left, right), recipes, strict=True))
    distance, cosine = _compare(a, b)
    of_a, of_b = (
        set(
            windows(
                tokens(normalize(text, recipe.normalize), recipe.version), WORD_SHINGLE, CJK_SHINGLE, recipe.version
            )
        )
        for text in (left, right)
    )
    other = pa.array([right], pa.large_string())
    alike = {
        kind: float(similarities_to(left, other, similarity=kind, recipe=recipe)[0])
        for kind in get_args(SimilarityName)
    }
    return Comparison(a, b, distance, cosine, alike["jaccard"], len(of_a & of_b), len(of_a | of_b), alike)


def _given(value: Any, place: str) -> FingerprintSteps:
    if not isinstance(value, Mapping) or not isinstance(value.get("features"), list) or not value["features"]:
        raise DataError(f'{place}: give an object with "features", a list of {{"feature", "weight", "hash"}}.')
    features = []
    for number, item in enumerate(value["features"]):
        here = f"{place}, feature {number}"
        if not isinstance(item, Mapping) or not {"feature", "weight", "hash"} <= set(item):
            raise DataError(f'{here}: give an object with "feature", "weight" and "hash".')
        weight, bits = item["weight"], item["hash"]
        if isinstance(weight, bool) or not isinstance(weight, int | Decimal):
            raise DataError(f'{here}: "weight" is {weight!r}; give a number.')
        if not isinstance(bits, str) or not bits or set(bits) - {"0", "1"}:
            raise DataError(f'{here}: "hash" is {bits!r}; give a string of 0s and 1s, such as "100101".')
        features.append(Feature(str(item["feature"]), 1, Decimal(weight), bits))
    widths = sorted({len(feature.hash) for feature in features})
    if len(widths) > 1:
        raise DataError(f"{place}: the hashes have {' and '.join(map(str, widths))} bits; give all the same width.")
    sums, fingerprint = simhash(features, widths[0])
    return FingerprintSteps((), tuple(features), sums, fingerprint)


def replay(path: str | Path) -> FingerprintSteps | Comparison:
    """SimHash from given features, weights and hashes: one set (`{"features": […]}`) or two (`{"left": …, "right": …}`).

    A vector is a set of features, too: its coordinates are the weights; the hashes of its dimensions, or the signs of random
    hyperplanes, are the hashes. Numbers are decimal, so sums are exact.
    """
    try:
        text = local_path(path, "such a file").read_text(encoding="utf-8")
        content = json.loads(text, parse_float=Decimal, object_pairs_hook=unique_members)
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror}.") from None
    except DECODER_ERRORS as problem:
        raise DataError(f"{path} cannot be read as JSON: {problem}.") from None
    if not (isinstance(content, Mapping) and {"left", "right"} <= set(content)):
        return _given(content, str(path))
    left, right = (_given(content[side], f"{path}, {side}") for side in ("left", "right"))
    if len(left.bits) != len(right.bits):
        raise DataError(f"{path}: left has {len(left.bits)} bits, right {len(right.bits)}; give both the same width.")
    return Comparison(left, right, *_compare(left, right), None, None, None, None)
