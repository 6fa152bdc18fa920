"""A disk that is really full, as a file system of a few megabytes: a clear end, nothing half-written, nothing left over."""

import json
import random
import re
import subprocess
import sys

import pytest

MOUNT = 'mount -t tmpfs -o size=10m tmpfs "$0" && exec "$@"'
WORDS = [f"word{number}" for number in range(5_000)]


def on_small_disk(disk, *arguments):
    """Run the command with `disk` as a file system of 10 MB, in a mount namespace of its own; then list what is on it."""
    command = ["unshare", "--mount", "sh", "-c", MOUNT, str(disk)]
    listing = 'ls -A "$0"; exit $code'
    return subprocess.run(
        [*command, "sh", "-c", f'shift; "$@"; code=$?; {listing}', str(disk), "-", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "in.jsonl"
    choose = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for number in range(60_000):
            file.write(json.dumps({"id": number, "text": " ".join(choose.choices(WORDS, k=60))}) + "\n")
    return path


@pytest.fixture
def disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if on_small_disk(disk, "true").returncode != 0:
        pytest.skip("needs the right to mount a file system: run as root, with unshare")
    return disk


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (
            "exact",
            r"The temporary files of this run need at least 9\.\d MiB, and 9\.0 MiB are free for them in \S+/disk\.",
        ),
        ("minhash", r"--method minhash of 60,000 documents takes about 41\."),
        (
            "simhash",
            r"The temporary files of this run need at least 9\.\d MiB, and 9\.0 MiB are free for them in \S+/disk\.",
        ),
    ],
)
def test_temporary_files_that_do_not_fit(corpus, disk, method, said):
    output = corpus.parent / "out.jsonl"
    done = on_small_disk(
        disk, sys.executable, "-m", "neardup", "dedup", corpus, "-o", output, "--method", method, "--temp-dir", disk,
        "--memory", "16M",
    )  # fmt: skip
    assert done.returncode in (1, 2)
    assert re.search(said, done.stderr)
    assert "Traceback" not in done.stderr
    assert done.stdout == ""  # nothing is left on the disk
    assert [path.name for path in corpus.parent.iterdir()] == [corpus.name]


def test_an_output_that_does_not_fit(corpus, disk):
    done = on_small_disk(disk, sys.executable, "-m", "neardup", "dedup", corpus, "-o", disk / "out.jsonl")
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert done.stdout == ""
