"""In a container of 1.2 times `--memory`, without swap, commands end well; what no file backs stays within `--memory`.

Where the kernel lets no test make a container, the anonymous memory of the process is watched alone. It includes the interpreter and
its libraries, which `--memory` counts.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from marks import long

MEMORY = 256 << 20
CONTAINER = MEMORY * 12 // 10
DOCUMENTS = 150_000
KINDS = {
    "v1": (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", {"memory.swappiness": "0"}),
    "v2": (Path("/sys/fs/cgroup"), "memory.max", {"memory.swap.max": "0"}),
}
"""Where each version of cgroups makes groups, the file of their limit, and what forbids swap."""


class Group:
    """A group of processes whose memory is limited; where none can be made, processes are only watched."""

    def __init__(self):
        self.folder, self.reason = None, ""
        for parent, limit, others in KINDS.values():
            folder = parent / f"neardup-test-{os.getpid()}"
            try:
                if not (parent / "cgroup.procs").exists():
                    continue
                folder.mkdir()
                (folder / limit).write_text(str(CONTAINER))
                for name, value in others.items():
                    if (folder / name).exists():
                        (folder / name).write_text(value)
                self.folder = folder
                return
            except OSError as problem:
                self.reason = str(problem)
                if folder.is_dir():
                    folder.rmdir()

    def enter(self):
        if self.folder is not None:
            (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        if self.folder is not None:
            self.folder.rmdir()


@pytest.fixture(scope="module")
def group():
    group = Group()
    yield group
    group.remove()


def write(path, texts):
    path.write_text("".join(json.dumps({"id": row, "text": text}) + "\n" for row, text in enumerate(texts)))


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """By name: short documents, tiny ones, one of a million equal lines or paragraphs, and few long ones."""
    folder, random = tmp_path_factory.mktemp("corpora"), np.random.default_rng(0)
    words = random.integers(0, 1 << 20, (DOCUMENTS, 10))
    words[9::10] = words[8::10]
    words[4::10, :9] = words[3::10, :9]
    write(folder / "short.jsonl", (" ".join(map(hex, some)) for some in words.tolist()))
    write(folder / "tiny.jsonl", (f"document {row % 100_000} is tiny" for row in range(DOCUMENTS)))
    for unit, separator in (("line", "\n"), ("paragraph", "\n\n")):
        text = separator.join(["this is a unit of text"] * 1_000_000)
        write(folder / f"{unit}.jsonl", [text])
        (folder / f"{unit}.txt").write_text(text)
        (folder / f"{unit}.csv").write_text(f'text\n"{text}"\n')
        pq.write_table(pa.table({"text": [text]}), folder / f"{unit}.parquet")
    write(folder / "huge.jsonl", (" ".join(map(hex, random.integers(0, 1 << 20, 300_000).tolist())) for _ in range(6)))
    template = [f"word{number}" for number in range(57)]
    dense = [list(template) for _ in range(4_000)]
    for row, each in enumerate(dense):
        each[row % 57], each[row * 7 % 57] = str(row), str(row + 1)
    write(folder / "dense.jsonl", map(" ".join, dense))
    return folder


def watched(group, arguments, folder):
    """The exit code of a command, what it said, and its highest anonymous memory in bytes."""
    with (folder / "said").open("w+") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "neardup", *arguments, "--quiet"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=said,
            preexec_fn=group.enter,
        )
        most = 0
        while process.poll() is None:
            found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
            most = max(most, 1024 * int(found[1]) if found else 0)
            time.sleep(0.005)
        said.seek(0)
        return process.returncode, said.read(), most


DEDUP = ("-o", "out.jsonl", "--memory", str(MEMORY), "--threads", "2")
UNITS = {
    f"{unit}, {ending}": ("dedup", f"{unit}.{ending}", "-o", f"out.{ending}", *DEDUP[2:], "--unit", unit)
    for unit in ("line", "paragraph")
    for ending in ("jsonl", "txt", "csv", "parquet")
}
COMMANDS = (
    {
        f"{corpus} {method}": ("dedup", f"{corpus}.jsonl", *DEDUP, "--method", method)
        for corpus in ("short", "tiny", "huge", "dense")
        for method in ("auto", "exact", "minhash", "simhash")
    }
    | UNITS
    | {
        "components": ("dedup", "short.jsonl", *DEDUP, "--cluster", "components"),
        "pairs": ("pairs", "short.jsonl", *DEDUP),
        "plan": ("plan", "short.jsonl", "--memory", str(MEMORY), "--threads", "2"),
        "fingerprint": ("fingerprint", "short.jsonl", "-o", "prints.parquet", "--threads", "2"),
        "index": ("index", "build", "made.index", "short.jsonl", "--threads", "2"),
        "store": ("store", "add", "made.store", "tiny.jsonl", "-o", "new.jsonl", "--threads", "2"),
    }
)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc, to watch the memory of a process")
@pytest.mark.parametrize("name", [name if name == "short auto" else long(name) for name in COMMANDS])
def test_a_command_stays_within_its_memory(group, corpora, name, tmp_path):
    for path in corpora.iterdir():
        (tmp_path / path.name).symlink_to(path)
    if name == "store":
        create = [sys.executable, "-m", "neardup", "store", "create", "made.store"]
        subprocess.run(create, cwd=tmp_path, check=True, capture_output=True)
    code, said, most = watched(group, COMMANDS[name], tmp_path)
    assert (code, said) == (0, "")
    assert 0 < most <= MEMORY, f"{most >> 20} MB"


def test_commands_run_in_a_container(group):
    if group.folder is None:
        pytest.skip(f"no group of processes can be made here, so memory is watched, not limited: {group.reason}")
    code = "x = bytearray(512 << 20)\nfor place in range(0, len(x), 4096): x[place] = 1"
    done = subprocess.run([sys.executable, "-c", code], preexec_fn=group.enter, check=False)
    assert done.returncode < 0  # killed: it takes more than the container has
