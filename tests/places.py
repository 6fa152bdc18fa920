"""Where the tests find files: the checkout, its golden values, and the corpora beside it."""

import os
from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
GOLDEN = TESTS / "golden"
DATA = Path(os.environ.get("NEARDUP_DATA", ROOT.parent / "shared" / "data"))
"""Corpora for evaluation, which the repository does not contain; tests that read them skip without them."""
