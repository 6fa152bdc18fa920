"""The documentation site, built once for the tests that look at it."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from places import ROOT


@cache
def build(target):
    """Build it strictly into that folder; what it says is part of any failure."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return Path(target)
