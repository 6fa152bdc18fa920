"""SIGNATURE: the MinHash of texts (Broder 1997), by one permutation or by many, and the similarity that it estimates.

Two texts have the same value at a place of their signatures with a probability equal to the Jaccard coefficient of their shingle
sets, the similarity of `neardup.matching.similarities`. The share of values that agree therefore estimates it without bias.

`one-permutation` hashes every shingle once, cuts the range of the hash into as many bins as there are values, and keeps the
minimum of each bin (Li, Owen and Zhang 2012). To fill the bins that stay empty, every shingle ranks all bins in a random order of
its own, with its own bin first; a bin takes the shingle that ranks it highest. This is SuperMinHash (Ertl 2017) with its first
round done at once. A value is the minimum of keys that depend only on the shingle and the bin. Two texts therefore agree in it
if and only if the minimum over both belongs to both: empty bins never agree by accident, and the estimate has no bias.

Optimal densification (Shrivastava 2017) would let an empty bin borrow the value of another bin instead. It has no bias either,
but a shingle that shares its bin with a smaller one is then in no value at all. Two texts of two shingles each, with one in common,
share no value with a probability of 1 / (2 k), whatever the bands. Texts of five to twenty shingles at similarity 0.8 were missed
1.6 to 2.1 times as often as the bands promise (simulated, 18 bands of 5). With ranks, shingles share the bins nearly evenly, and
the error is smaller for shorter texts: 0.7 of the error of independent values for ten shingles.

`permutations` is the classic way: the minimum under each of k permutations a x + b modulo 2^64, a odd, of one mixed hash of the
shingle. Such linear permutations are not exactly min-wise independent, but over random sets of n the bias is at most
O(log^3 n / n^1.5) (Bohman, Cooper and Frieze 2000). The sets are random because shingles are hashed twice before, by XXH3 and by a
64-bit mixer. The cost grows with the number of values, and the estimate is no better; this kind is for comparison with other tools.

Only the lower 32 or 16 bits of a value are kept. Different values then agree by accident with a probability of 2^-bits, which the
estimate corrects for (Li and König 2010, "b-bit minwise hashing", with the constant of sparse sets).
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from neardup.arrays import Array, is_of
from neardup.errors import OptionError, RecipeMismatch, is_integer
from neardup.fingerprints.shingle_hashes import shingle_hashes
from neardup.fingerprints.workspace import Workspace
from neardup.io.resume.codecs import codec
from neardup.kernels.fingerprints.minhash import Constants, scratch, sign_documents, sign_sets
from neardup.recipe.given_elements import recipe_of_elements, similarity_of_elements
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity, SimilarityLike, measure_of, similarity_of, version_of
from neardup.recipe.tables.parts import FOLDING, VERSION
from neardup.recipe.tables.similarities import normalizers_only
from neardup.recipe.tables.spellings import one_of
from neardup.resources.threads import in_order, thread_count
from neardup.text.columns import in_chunks
from neardup.text.frames import frame_of, holds_elements, texts_of, texts_of_elements
from neardup.text.unicode_tables import fold_tables

KINDS = {
    "one-permutation": "the least hash in each bin; an empty bin takes the shingle that ranks it highest",
    "permutations": "the least under each of many permutations",
}
SignatureKind = Literal["one-permutation", "permutations"]
BITS = (32, 16)
MAX_VALUES = 1024
VALUES = 128
SEED = 1


@codec(
    "signatures",
    3,
    values="uint32[n, values]|uint16[n, values]",
    sizes="int64[n]",
    kind="value",
    seed="value",
    normalize="value",
    similarity="value",
)
@dataclass(frozen=True)
class Signatures:
    """MinHash signatures of n texts. `signatures[rows]` selects some of them, `signatures[3]` a single one.

    Attributes:
        values: uint32[n, k] or uint16[n, k]; a text without shingles has zeros and resembles no other text.
        sizes: int64[n], unique shingles.
        kind: how the signatures were made: one of KINDS.
        seed: chose the hash functions.
        normalize: the recipe's normalizers that the texts went through first.
        similarity: the digest of the similarity whose shingles were signed; empty for `jaccard`, the default.
    """

    values: Array
    sizes: Array
    kind: str
    seed: int
    normalize: tuple[str, ...] = FOLDING
    similarity: str = ""

    @property
    def bits(self) -> int:
        """Number of bits kept of each value."""
        return 8 * self.values.dtype.itemsize

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> "Signatures":
        return replace(self, values=self.values[rows], sizes=self.sizes[rows])

    def __repr__(self) -> str:
        many = f"{len(self):,} of " if self.values.ndim == 2 else ""
        return f"Signatures({many}{self.values.shape[-1]} values of {self.bits} bits, {self.kind}, seed={self.seed})"


@dataclass(frozen=True)
class Estimate:
    """An estimated similarity, or arrays of them.

    Attributes:
        similarity: from 0 to 1.
        standard_error: of the similarity, over the choice of hash functions.
    """

    similarity: Any
    standard_error: Any


def _integers(seed: int, purpose: str, count: int) -> Array:
    """`count` uniformly distributed uint64 that the seed determines."""
    stream = hashlib.shake_128(f"neardup minhash {purpose} {seed}".encode()).digest(8 * count)
    return np.frombuffer(stream, "<u8").astype(np.uint64)


@lru_cache(maxsize=16)
def constants(kind: str, values: int, seed: int) -> Constants:
    """The constants that the kernels need for a kind of signature."""
    multipliers = _integers(seed, "multipliers", values) | np.uint64(1)
    addends = _integers(seed, "addends", values)
    return Constants(_integers(seed, "key", 1)[0], multipliers, addends, kind == "one-permutation")


_WORKSPACE = Workspace(scratch)


@dataclass(frozen=True, kw_only=True)
class Signing:
    """Checked settings for signing texts; see `signatures`."""

    values: int = VALUES
    kind: str = "one-permutation"
    bits: int = 32
    seed: int = SEED
    normalize: tuple[Any, ...] = FOLDING
    similarity: Similarity | None = None
    version: int = VERSION

    def __post_init__(self) -> None:
        problems = [
            f"`{name}={given!r}`: give an integer from {low} to {high}"
            for name, given, low, high in (
                ("values", self.values, 1, MAX_VALUES),
                ("seed", self.seed, 0, 2**64 - 1),
            )
            if not is_integer(given) or not low <= given <= high
        ]
        for name, value, allowed in (("kind", self.kind, tuple(KINDS)), ("bits", self.bits, BITS)):
            if not (isinstance(value, str) or is_integer(value)) or value not in allowed:
                problems.append(one_of(name, value, [*map(str, allowed)]))
        if problems:
            raise OptionError("These signatures are not possible. " + "; ".join(problems) + ".")
        for name in ("values", "bits", "seed"):
            object.__setattr__(self, name, int(getattr(self, name)))  # NumPy integers would overflow

    def sign(self, texts: Any) -> Signatures:
        """The signatures of one Arrow `large_string` array of valid UTF-8; a null counts as an empty text."""
        if self.similarity is not None:
            return self.sign_sets(
                *shingle_hashes(texts, self.similarity, Recipe(normalize=self.normalize, version=self.version))
            )
        folded = _WORKSPACE.fold(texts, self.normalize)
        found = self.none(len(folded))
        sign_documents(
            folded.data,
            folded.offsets,
            constants(self.kind, self.values, self.seed),
            _WORKSPACE.scratch(int(np.diff(folded.offsets).max(initial=0)), self.values),
            np.uint64((1 << self.bits) - 1),
            fold_tables(self.version),
            found.values,
            found.sizes,
        )
        return found

    def sign_sets(self, hashes: Array, offsets: Array) -> Signatures:
        """The signatures of sets of hashes, in any order and however often: uint64[total], offsets int64[n + 1]."""
        found = self.none(len(offsets) - 1)
        sign_sets(
            hashes,
            offsets,
            constants(self.kind, self.values, self.seed),
            scratch(2 * int(np.diff(offsets).max(initial=0)), self.values),
            np.uint64((1 << self.bits) - 1),
            found.values,
            found.sizes,
        )
        return found

    def none(self, n: int = 0) -> Signatures:
        """Signatures of `n` texts, not yet filled in."""
        kept = np.uint32 if self.bits == 32 else np.uint16
        signed = self.similarity
        if self.version != VERSION:
            signed = replace(signed or Similarity(), version=self.version)
        made = "" if signed is None else signed.digest()
        values, sizes = np.empty((n, self.values), kept), np.empty(n, np.int64)
        return Signatures(values, sizes, self.kind, self.seed, self.normalize or FOLDING, made)

    def join(self, parts: Iterable[Signatures]) -> Signatures:
        """Concatenate the signatures of consecutive texts."""
        nothing = self.none()
        parts = [nothing, *parts]
        values = np.concatenate([part.values for part in parts])
        return replace(nothing, values=values, sizes=np.concatenate([part.sizes for part in parts]))


def signatures(
    texts: Any,
    *,
    text: str | Iterable[str] = "text",
    values: int = VALUES,
    kind: SignatureKind = "one-permutation",
    bits: Literal[16, 32] = 32,
    seed: int = SEED,
    similarity: SimilarityLike = "jaccard",
    recipe: RecipeLike | None = None,
    threads: int | None = None,
) -> Signatures:
    """The MinHash signature of each text, computed over its set of shingles.

    Args:
        texts: a list or an iterator of strings, a column or a table: any input of `deduplicate`. Or given sets: a list of sets or
            of lists of strings and integers, or an Arrow column of lists; their elements are signed as they are.
        text: the column of the texts in a table, or several columns; as in `deduplicate`.
        values: values per signature, 1 to 1024; the standard error is about sqrt(J (1 - J) / values).
        kind: `one-permutation`, or `permutations`, which is slower and no better.
        bits: bits kept of each value, 32 or 16.
        seed: chooses the hash functions; signatures are comparable only if they have the same seed.
        similarity: whose shingles are signed: jaccard, or a `Similarity` with that measure and other shingles.
        recipe: its normalizers are applied to the texts first, as `deduplicate` does. Signatures are of the shingles of the
            similarity, which a recipe cannot change.
        threads: all processors by default. The result does not depend on it.

    Returns:
        Signatures. A text without shingles has zeros and size 0, and resembles no other text.

    Raises:
        OptionError: a value is not allowed; `texts` is one string, or holds something other than strings; the recipe asks for
            other tokens or shingles, or the similarity is not a Jaccard coefficient.
        DataError: a text is null, or not valid Unicode.

    >>> found = signatures(["a rose is a rose is a rose", "A rose is a rose, is a ROSE.", "a ship is a ship"])
    >>> found
    Signatures(3 of 128 values of 32 bits, one-permutation, seed=1)
    >>> jaccard_estimate(found[0], found[1:]).similarity.tolist()
    [1.0, 0.0]
    """
    frame, found = frame_of(texts, "texts"), similarity_of(similarity)
    used = recipe_of(recipe, version_of(found))
    if holds_elements(frame):
        recipe_of_elements(used)  # refuses what would be ignored
        steps, arrays = (), texts_of_elements(frame)
        compared = signed_similarity(similarity_of_elements(found))
    else:
        steps, arrays = normalizers_only(used, "Signatures are"), texts_of(frame, text)
        compared = signed_similarity(found)
    if compared is not None:
        compared.check_recipe(Recipe(normalize=steps, version=used.version))
    how = Signing(
        values=values, kind=kind, bits=bits, seed=seed, normalize=steps, similarity=compared, version=used.version
    )
    chunks = (chunk for array in arrays for chunk in in_chunks(array))
    return how.join(in_order(how.sign, chunks, thread_count(threads)))


def signed_similarity(similarity: SimilarityLike) -> Similarity | None:
    """The similarity whose shingles are signed; None for those of `jaccard`, the default.

    Raises:
        OptionError: its measure is not jaccard, which is all that MinHash estimates.
    """
    found = similarity_of(similarity)
    if measure_of(found) != "jaccard":
        raise OptionError(
            f"`similarity={measure_of(found)!r}`: signatures estimate jaccard only. Give jaccard, or a `Similarity` with "
            "`measure='jaccard'`."
        )
    return found if isinstance(found, Similarity) else None


def jaccard_estimate(a: Signatures, b: Signatures) -> Estimate:
    """Estimate the similarity of texts from their signatures: row by row, or a single one (`signatures[3]`) with each of the other.

    With C = 2^-bits and P the share of values that agree, the estimate is (P - C) / (1 - C), and at least 0 (Li and König 2010,
    section 3, with the constant for sets that are small in a universe of 2^64). Its variance is Var(P) / (1 - C)^2. For k values
    and the probability p that one agrees, Var(P) = p (1 - p) / k for permutations. For one permutation the variance is smaller by
    the factor of Ertl (2017, SuperMinHash, section 3), which depends on k and the size of the union of the shingle sets; the
    estimate itself supplies that union. Measured standard errors are within a tenth of these; below four shingles, within a
    sixth.

    The code uses (agreeing + 1) / (k + 2) for p (Laplace), so the error is not 0 where all values or none agree. A text without
    shingles resembles no other: similarity 0, standard error 0.

    Returns:
        Estimate: floats if both arguments hold one text, otherwise float64[n].

    Raises:
        OptionError: the numbers of rows differ, and neither is a single signature.
        RecipeMismatch: the signatures differ in kind, bits, seed, number of values or normalizers.
    """
    check_comparable(a, b)
    if a.values.ndim == b.values.ndim == 2 and len(a) != len(b):
        raise OptionError(
            f"a has {len(a):,} rows, b {len(b):,}. Give as many of each, or one signature: signatures[row]."
        )
    k = a.values.shape[-1]
    accident = 2.0**-a.bits
    agreeing = (a.values == b.values).sum(axis=-1)
    share = agreeing / k
    similarity = np.maximum(0.0, (share - accident) / (1 - accident))
    p = (agreeing + 1) / (k + 2)
    sizes = np.asarray(a.sizes + b.sizes, np.float64)
    variance = p * (1 - p) / k
    if a.kind == "one-permutation":
        variance = variance * _variance_factor(sizes / (1 + similarity), k)
    known = (a.sizes == 0) | (b.sizes == 0)
    similarity = np.where(known, 0.0, similarity)
    error = np.where(known, 0.0, np.sqrt(variance) / (1 - accident))
    if similarity.ndim == 0:
        return Estimate(float(similarity), float(error))
    return Estimate(similarity, error)


def _variance_factor(unions: Any, k: int) -> Any:
    """The variance for unions of these sizes, relative to independent values."""
    return np.interp(np.log(np.maximum(unions, 2.0)), *_variance_factors(k))


@lru_cache(maxsize=16)
def _variance_factors(k: int) -> tuple[Array, Array]:
    """The variance, relative to independent values, at some union sizes u (as logarithms).

    It follows from alpha(m, u) of Ertl (2017), with the m bins that are ranked.

    alpha = 1 - sum over l < m of l^u ((l + 1)^u + (l - 1)^u - 2 l^u) / ((m - 1)^(u - 1) m^u (u - 1)). Only k of the m bins are
    used; the excess probability that two of them take the same shingle is equal for any two.
    """
    m = 1 << max(1, (k - 1).bit_length())
    logarithms = np.linspace(np.log(2), np.log(1000 * m), 400)
    u, bins = np.exp(logarithms)[:, None], np.arange(1, m)
    scaled = [(bins * (bins + step) / (m * (m - 1))) ** u for step in (-1, 0, 1)]
    alpha = 1 - (scaled[0] - 2 * scaled[1] + scaled[2]).sum(axis=1) * (m - 1) / (u[:, 0] - 1)
    return logarithms, 1 - (k - 1) / (m - 1) * (1 - alpha)


def check_signatures(given: Any) -> None:
    """Raise unless the argument is a `Signatures`."""
    if not isinstance(given, Signatures):
        raise OptionError(f"This is a {type(given).__name__}, not signatures. Give what neardup.signatures() gives.")
    values, sizes = np.asarray(given.values), np.asarray(given.sizes)
    if not is_of(values, np.uint32, np.uint16) or sizes.dtype.kind not in "iu" or sizes.shape != values.shape[:-1]:
        raise OptionError(
            f"These signatures have values of {values.dtype}{list(values.shape)} and sizes of {sizes.dtype}{list(sizes.shape)}; "
            "give uint32 or uint16[n, values] and int64[n], as of neardup.signatures()."
        )


def check_comparable(a: Signatures, b: Signatures) -> None:
    """Raise unless both are `Signatures` that were made the same way."""
    for made in (a, b):
        check_signatures(made)
    how = [(made.values.shape[-1], made.bits, made.kind, made.seed, made.normalize, made.similarity) for made in (a, b)]
    if how[0] != how[1]:
        described = ["{} values of {} bits, {}, seed={}".format(*made) for made in how]
        if how[0][:-2] == how[1][:-2]:
            described = [f"texts normalized by {', '.join(made[-2]) or 'nothing'}" for made in how]
        if how[0][:-1] == how[1][:-1]:
            described = [f"the similarity {made[-1] or 'jaccard'}" for made in how]
        raise RecipeMismatch(
            f"Signatures of {described[0]} cannot be compared with signatures of {described[1]}. Make both alike."
        )
