"""What each method costs, by what it looks at: memory, temporary files, and seconds of a reference machine.

Nothing here depends on the machine, the threads or the memory but what is said of memory and files.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from neardup.matching.band_plan import Bands
from neardup.matching.candidates.minhash import minhash_bands, signature_bytes
from neardup.matching.prefix_join.counts import ElementCounts
from neardup.matching.prefix_join.join import POSTING_BYTES
from neardup.resources.pair_spool import PAIR_BYTES
from neardup.resources.shares import share_of

COUNT_SECONDS, PREFIX_SECONDS, SIGN_SECONDS = 2.2e-8, 2.8e-8, 3.1e-8
"""An element counted, put in order for the prefix; a token, read again and signed. These and the next: processor seconds of the
reference machine, on the corpora of benchmarks/auto_choice.py."""
SET_SECONDS, POSTING_SECONDS, VISIT_SECONDS, MEETING_SECONDS = 1e-6, 2.7e-7, 1.2e-8, 2.9e-7
"""A document, an element of a prefix, a look at a posting, and a pair that meets, until it is proposed or dropped."""
EMPTY_SECONDS, BAND_SECONDS, BANDED_SECONDS = 4.5e-6, 2.2e-7, 2e-8
"""A signature of which all values must be borrowed, having no element of their own; a band; and a pair that agrees in one."""
LISTED_SECONDS, PAIR_SECONDS, PAIR_ELEMENT_SECONDS = 1e-7, 2e-7, 1.5e-9
"""A pair that is proposed; one that is verified, and an element of its two sets. Of pairs that match, hardly one a document is."""


HELD_SECONDS = 1.5e-9
"""A document held against an earlier survivor, by the bits of frequent elements (matching/frequent_bits.py)."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a method would take.

    Attributes:
        method: exact or minhash.
        candidates: pairs that would be verified, where clustering does not make that needless.
        postings: of exact: elements kept.
        visits: of exact: looks at postings; meetings: pairs seen by them; of minhash, pairs that agree in a band, once for each.
        memory_bytes, disk_bytes: for finding candidates, at the height, besides some 100 bytes a document.
        seconds: of one processor of the reference machine, from when the texts were read once.
        join_seconds: of these, what begins when all texts are read.
    """

    method: str
    candidates: int
    postings: int
    visits: int
    meetings: int
    memory_bytes: int
    disk_bytes: int
    seconds: float
    join_seconds: float


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is of what a sample stands for.

    Attributes:
        documents, tokens: of all.
        growth: how many times as many these are as were counted.
    """

    documents: int
    tokens: int
    growth: float = 1.0

    @property
    def elements_each(self) -> float:
        return self.tokens / max(1, self.documents)


FEW_PAIRS_PER_DOCUMENT = 64
"""Up to so many pairs a document are listed as they are. Of more, those with a survivor are listed (survivors/families.py)."""
HELD_EACH = 640
"""Or documents are held against survivors (survivors/dense.py), where this takes no longer: listing and verifying a pair takes as
long as holding so many pairs of documents against each other, each once."""


def is_dense(documents: int, pairs: float) -> bool:
    """Whether it takes no longer to hold each document against each earlier one than to list so many pairs."""
    return documents * documents <= HELD_EACH * pairs


def all_pairs(documents: float) -> float:
    """How many pairs so many documents have."""
    return max(0.0, documents * (documents - 1) / 2)


class Pairs(NamedTuple):
    """How many pairs are proposed, how many of these do not match, and how many are only held against each other."""

    all: float = 0.0
    unlike: float = 0.0
    held: float = 0.0

    def times(self, factor: float) -> "Pairs":
        return Pairs(self.all * factor, self.unlike * factor, self.held * factor)

    def at_most_all_of(self, documents: int) -> "Pairs":
        """No more than so many documents have: an estimate from a sample may be above."""
        return Pairs(*(min(figure, all_pairs(documents)) for figure in self))

    def of_survivors(self, documents: int) -> "Pairs":
        """Those listed where survivors are found first: of very many that match, about one a document."""
        if self.all <= FEW_PAIRS_PER_DOCUMENT * documents:
            return self
        if is_dense(documents, self.all):
            return Pairs(documents, 0, all_pairs(documents))
        return Pairs(self.unlike + documents, self.unlike)

    def seconds(self, size: Size) -> float:
        """To list and to verify them."""
        verified = self.unlike + min(self.all - self.unlike, size.documents)
        return (
            self.held * HELD_SECONDS
            + self.all * LISTED_SECONDS
            + verified * (PAIR_SECONDS + 2 * size.elements_each * PAIR_ELEMENT_SECONDS)
        )


class Walks(NamedTuple):
    """What the sets of an exact join look at: see `Estimate`."""

    postings: float
    visits: float
    meetings: float
    pairs: Pairs


def exact_cost(size: Size, walks: Walks, cells: int, memory: int) -> Estimate:
    """Of an exact join that looks at so much, with `cells` bytes of counts, in so many bytes of memory."""
    postings, visits, meetings, pairs = walks
    pairs, meetings = pairs.at_most_all_of(size.documents), min(meetings, all_pairs(size.documents))
    join = (
        size.documents * SET_SECONDS + postings * POSTING_SECONDS + visits * VISIT_SECONDS + meetings * MEETING_SECONDS
    )
    join += pairs.seconds(size)
    seconds = size.tokens * (COUNT_SECONDS + PREFIX_SECONDS) + join
    listed, spilled = _in_memory_or_file(int(pairs.all) * PAIR_BYTES, share_of(memory, "pairs"))
    needed = cells + min(int(postings) * POSTING_BYTES, share_of(memory, "postings")) + listed
    disk = prefix_bytes(size, int(postings)) + spilled
    return Estimate("exact", int(pairs.all), int(postings), int(visits), int(meetings), needed, disk, seconds, join)


def prefix_bytes(size: Size, postings: int) -> int:
    """Of the file of prefixes with so many elements."""
    return 8 * postings + 40 * size.documents


def exact_at_most(size: Size) -> float:
    """Seconds that an exact join takes if every two documents meet in all of their elements, and none match."""
    each, pairs = size.elements_each, size.documents * size.documents / 2
    everything = Walks(float(size.tokens), pairs * each, pairs, Pairs(pairs, pairs))
    return exact_cost(size, everything, 0, 1 << 62).seconds


def _in_memory_or_file(size: int, most: int) -> tuple[int, int]:
    """What `size` bytes take of memory, and of temporary files where it is more than `most`."""
    return (size, 0) if size <= most else (most, size)


def minhash_cost(size: Size, meetings: float, pairs: Pairs, bands: Bands, memory: int) -> Estimate:
    """Of MinHash bands in which so many pairs meet, and so many of these are proposed, in so many bytes of memory."""
    pairs, meetings = pairs.at_most_all_of(size.documents), min(meetings, bands.bands * all_pairs(size.documents))
    join = size.documents * bands.bands * BAND_SECONDS + meetings * BANDED_SECONDS
    join += pairs.seconds(size)
    empty = math.exp(-size.elements_each / bands.values)
    seconds = size.tokens * SIGN_SECONDS + size.documents * empty * EMPTY_SECONDS + join
    held, disk = _in_memory_or_file(signature_bytes(size.documents, bands), share_of(memory, "signatures"))
    listed, spilled = _in_memory_or_file(int(pairs.all) * PAIR_BYTES, share_of(memory, "pairs"))
    needed, disk = 48 * size.documents + held + listed, disk + spilled
    return Estimate("minhash", int(pairs.all), 0, 0, int(meetings), needed, disk, seconds, join)


@dataclass(frozen=True, slots=True)
class Typical:
    """What a known corpus takes at 0.8: pieces of 3 KB of the texts of Python packages, many of them near-copies.

    Attributes:
        min_similarity: for which this is.
        measured: documents, from and to.
        tokens, postings, visits, meetings, pairs, banded: at the larger size, and the power of the documents with which it grows.
        token_bytes: of a file of JSON lines, for each token.
        read_seconds, write_seconds: processor seconds to read a token and to make the fingerprints, and seconds to write a byte of
            the survivors; by benchmarks/results/corpus_speed.json, as the bytes.
    """

    min_similarity: float = 0.8
    measured: tuple[int, int] = (121_836, 931_455)
    tokens: tuple[float, float] = (3.2e8, 1.0)
    postings: tuple[float, float] = (2.9e7, 1.28)
    visits: tuple[float, float] = (6.6e8, 1.79)
    meetings: tuple[float, float] = (4.0e7, 1.72)
    pairs: tuple[float, float] = (2.0e7, 1.72)
    banded: tuple[float, float] = (9.1e7, 1.64)
    token_bytes: float = 9.8
    read_seconds: float = 5.7e-8
    write_seconds: float = 1.2e-9

    def at(self, figure: tuple[float, float], documents: int) -> float:
        """A figure for so many documents."""
        return float(figure[0] * (documents / self.measured[1]) ** figure[1])


TYPICAL = Typical()


def typical_estimates(documents: int, *, memory: int) -> tuple[Estimate, Estimate]:
    """Of an exact join and of MinHash bands of so many documents like TYPICAL's."""
    tokens, postings, visits, meetings, pairs, banded = (
        TYPICAL.at(getattr(TYPICAL, name), documents)
        for name in ("tokens", "postings", "visits", "meetings", "pairs", "banded")
    )
    size = Size(documents, int(tokens))
    cells = ElementCounts.bytes_for(size.tokens, memory=share_of(memory, "counts"))
    exact = exact_cost(size, Walks(postings, visits, meetings, Pairs(pairs, pairs)), cells, memory)
    return exact, minhash_cost(size, banded, Pairs(pairs, pairs), minhash_bands(TYPICAL.min_similarity), memory)
