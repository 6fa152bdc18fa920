"""datasketch's MinHash and `datasketch_signature`."""

from itertools import pairwise

import numpy as np
import pytest

from compatibility.corpus import NEAR_COPIES, PIECES, TEXTS
from compatibility.tools import TOOLS
from marks import long
from neardup.fingerprints.profiles.values import datasketch_signature

pytestmark = pytest.mark.timeout(1200)
RELEASES = TOOLS["datasketch"].releases
SETS = [[], [b""], [bytes(range(256))], [b"a", b"a"]]
SETS += [text.encode().split(b" ") for text in [*PIECES.values(), *NEAR_COPIES[:30], TEXTS[60]]]


@pytest.mark.parametrize(
    ("release", "scheme", "options"),
    [
        *(long(release, "legacy", {}) for release in RELEASES if release < "2"),
        ("2.0.0", "legacy", {"scheme": "legacy"}),
        ("2.0.0", "affine32", {}),
        ("2.0.0", "affine64", {"scheme": "affine64"}),
    ],
)
def test_signatures_and_their_similarities_are_the_same(release, scheme, options, ask):
    features = [[feature.hex() for feature in each] for each in SETS]
    drawn = [(1, 1), (7, 0), (128, 42)]
    found = ask("datasketch", release, features=features, drawn=drawn, options=options)
    for (num_perm, seed), answer in zip(drawn, found["answers"], strict=True):
        ours = [datasketch_signature(each, num_perm=num_perm, seed=seed, scheme=scheme) for each in SETS]
        assert ours == [[*map(int, each)] for each in answer["signatures"]]
        shares = [np.mean(np.array(left) == np.array(right)) for left, right in pairwise(ours)]
        np.testing.assert_allclose(shares, answer["similarities"])
