"""Runs that are stopped, or find no room: final names hold the old or the complete new, never half a file."""

import gzip
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cli_corpora import FERRY, files, lines, read_lines, write_lines

import neardup
from neardup.io.outputs.outputs import Outputs
from neardup.resources.temporary_files import TemporaryFiles
from neardup.resources.unfinished import remove_unfinished, removed_by, temporary_folder, undisturbed

NAMES = ("out.jsonl.gz", "out.duplicates.jsonl", "out.summary.json")
OLD = b"old\n"


@pytest.fixture(scope="module")
def many():
    """Documents that take about a second, every tenth a copy."""
    choose = random.Random(5)
    words = [f"word{i}" for i in range(5000)]
    rows = [{"id": i, "text": " ".join(choose.choices(words, k=60))} for i in range(8_000)]
    return [row if row["id"] % 10 else row | {"text": rows[row["id"] // 2]["text"]} for row in rows]


@pytest.fixture(scope="module")
def expected(many, tmp_path_factory):
    """What a run that is not stopped writes, by name."""
    folder = tmp_path_factory.mktemp("expected")
    write_lines(folder / "in.jsonl", many)
    neardup.deduplicate_files([folder / "in.jsonl"], str(folder / NAMES[0]))
    return {name: (folder / name).read_bytes() for name in NAMES}


def state(expected):
    """Of each final name, whether it holds what it held before or all that a run writes; anything else is wrong."""
    found = {}
    for name in NAMES:
        content = Path(name).read_bytes()
        found[name] = content == OLD
        if content != OLD and name == "out.summary.json":
            assert json.loads(content)["documents"] == 8_000
        elif content != OLD:
            assert content == expected[name]
    return set(found.values())


@pytest.mark.parametrize(
    ("number", "moment"),
    [
        (signal.SIGINT, ""),
        (signal.SIGINT, "fingerprint: "),
        (signal.SIGINT, "survivors: "),
        (signal.SIGTERM, "join: "),
        (signal.SIGTERM, "survivors: "),
        (signal.SIGHUP, "survivors: "),
        (signal.SIGKILL, "survivors: "),
        (signal.SIGKILL, "write: "),
    ],
)
def test_a_run_that_is_stopped_leaves_what_was_there_or_what_is_complete(
    run, start, place, many, expected, number, moment
):
    write_lines("in.jsonl", many)
    for name in NAMES:
        Path(name).write_bytes(OLD)
    process = start("dedup", "in.jsonl", "-o", "out.jsonl.gz", "--overwrite", "--verbose", stdout=subprocess.DEVNULL)
    if moment:
        next(line for line in process.stderr if moment.encode() in line)
    else:
        time.sleep(0.3)
    process.send_signal(number)
    _, said = process.communicate()
    found = state(expected)
    assert found == {process.returncode != 0} or moment in ("survivors: ", "write: ")
    if number == signal.SIGKILL:  # what lies about is in nobody's way
        assert run("dedup", "in.jsonl", "-o", "out.jsonl.gz", "--overwrite", "--quiet", leaves_nothing=False).code == 0
        assert state(expected) == {False}
    else:
        assert place.leftovers() == []
        if moment and process.returncode:
            assert process.returncode == 130
            assert said.endswith(b"neardup: error: interrupted; unfinished files were removed\n")
            assert b"Traceback" not in said


def test_a_request_to_end_that_comes_twice_still_cleans_up(start, place, many):
    write_lines("in.jsonl", many)
    process = start("dedup", "in.jsonl", "-o", "out.jsonl.gz", "--verbose", stdout=subprocess.DEVNULL)
    next(line for line in process.stderr if b"survivors: " in line)
    for _ in range(5):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.002)
    process.communicate()
    assert place.leftovers() == []
    assert process.returncode in (0, 130)


def test_a_hangup_that_is_to_be_ignored_is_ignored(start):
    """As under nohup."""
    write_lines("in.jsonl", [{"id": 1, "text": FERRY}])
    process = start("dedup", "-", "-o", "-", "--quiet", prepare=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    time.sleep(0.3)
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(Path("in.jsonl").read_bytes())
    assert (process.returncode, out) == (0, Path("in.jsonl").read_bytes())


def test_an_interrupt_while_reading_standard_input_leaves_nothing(start, place):
    process = start("dedup", "-", "-o", "out.jsonl")
    process.stdin.write(b'{"text": "a"}\n')
    process.stdin.flush()
    for _ in range(200):
        if any(path.name == "stdin.jsonl" for path in place.temporary.rglob("*")):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert place.leftovers() == []
    assert files() == []


def test_an_interrupt_between_two_renames_leaves_whole_files(run, monkeypatch):
    write_lines("in.jsonl", [{"id": i, "text": FERRY} for i in range(3)])
    original, renamed = os.replace, []

    def replace_once(source, target):
        if Path(target).parent != Path.cwd():  # a kernel was compiled and is kept
            return original(source, target)
        if renamed:
            raise KeyboardInterrupt
        renamed.append(Path(target).name)
        return original(source, target)

    monkeypatch.setattr(os, "replace", replace_once)
    run("dedup", "in.jsonl", "-o", "out.jsonl").refused("interrupted; unfinished files were removed", code=130)
    assert files() == ["in.jsonl", *renamed] == ["in.jsonl", "out.duplicates.jsonl"]  # no removal without its line
    assert len(read_lines("out.duplicates.jsonl")) == 2


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("failing", range(3))
@pytest.mark.parametrize("options", [(), ("--resume",)])
def test_a_rename_that_fails_leaves_all_outputs_as_they_were(run, monkeypatch, links, old, failing, options):
    write_lines("in.jsonl", [{"id": i, "text": FERRY} for i in range(3)])
    names = ["out.duplicates.jsonl", "out.jsonl", "out.summary.json"]
    for name in names if old else ():
        Path(name).write_text(f"old {name}")
    original, renamed = os.replace, []

    def replace_some(source, target):
        if Path(target).name in names and ".partial-" in str(source) and len(renamed) <= failing:
            renamed.append(target)
            if len(renamed) > failing:
                raise PermissionError(1, "Operation not permitted", os.fspath(target))
        return original(source, target)

    def no_link(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "replace", replace_some)
    if not links:
        monkeypatch.setattr(os, "link", no_link)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite", *options, leaves_nothing=not options).refused(
        f"{Path(renamed[-1]).name} cannot be written: Operation not permitted. All outputs are as they were"
    )
    shown = [name for name in files() if not name.startswith((".", "out.resume"))]
    assert shown == (["in.jsonl", *names] if old else ["in.jsonl"])
    assert not old or [Path(name).read_text() for name in names] == [f"old {name}" for name in names]
    renamed.clear()
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite", *options, leaves_nothing=not options).refused(
        "cannot be written: Operation not permitted"
    )
    monkeypatch.setattr(os, "replace", original)
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite", *options).code == 0
    assert [name for name in files() if "partial" in name] == []
    assert len(read_lines("out.duplicates.jsonl")) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["dedup", "-o", "out.jsonl"],
        ["passages", "-o", "out.jsonl", "--min-tokens", "9"],
        ["passages", "-o", "out.jsonl", "--min-tokens", "9", "--list"],
        ["pairs", "-o", "out.parquet"],
        ["pairs", "-o", "out.jsonl"],
        ["fingerprint", "-o", "out/"],
    ],
)
def test_an_interrupt_before_the_end_leaves_nothing(run, monkeypatch, arguments):
    def interrupted(*_):
        raise KeyboardInterrupt

    write_lines("in.jsonl", [{"id": i, "text": FERRY} for i in range(3)])
    monkeypatch.setattr(Outputs, "commit", interrupted)
    verb, *flags = arguments
    assert run(verb, "in.jsonl", *flags).code == 130
    assert files() == ["in.jsonl"]
    assert not Path("out").exists()


def test_an_interrupt_of_a_run_with_resume_says_where_its_work_is(run, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    write_lines("in.jsonl", [{"id": i, "text": FERRY} for i in range(3)])
    with monkeypatch.context() as patch:
        patch.setattr(Outputs, "commit", interrupted)
        done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--resume", leaves_nothing=False)
    assert done.code == 130
    assert done.err.endswith(
        "neardup: error: interrupted; finished work stays in out.resume, and the same command goes on with it. To give it up, "
        "remove that folder and hidden files with .partial- in their names beside the outputs\n"
    )
    assert Path("out.resume/run.json").exists()
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--resume").code == 0
    assert len(read_lines("out.duplicates.jsonl")) == 2


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a file system of 64 KiB."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system, on Linux")
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


NO_ROOM = (
    "No space left on device. Make room where the output and the temporary files go, or choose other folders with -o"
)


NO_ROOM_FOR_FILES = "The temporary files of this run need at least"


@pytest.mark.parametrize(
    "arguments",
    [
        ["dedup", "-o", "small/out.jsonl"],
        ["dedup", "-o", "small/out.jsonl.gz"],
        ["dedup", "-o", "small/out.jsonl.zst"],
        ["dedup", "-o", "small/out/"],
        ["passages", "-o", "small/out.jsonl"],
        ["dedup", "-o", "out.jsonl", "--audit", "small/audit.jsonl", "--min-similarity", "0", "--max-distance", "128"],
        ["dedup", "-o", "out.jsonl", "--temp-dir", "small", "--min-similarity", "0.9", "--max-distance", "60"],
        ["pairs", "-o", "small/pairs.jsonl", "--min-similarity", "0", "--max-distance", "128"],
        ["pairs", "-o", "small/pairs.jsonl.zst", "--min-similarity", "0", "--max-distance", "128"],
        ["pairs", "-o", "small/pairs.parquet", "--min-similarity", "0", "--max-distance", "128"],
        ["fingerprint", "-o", "small/prints.parquet"],
    ],
)
def test_a_full_disk_is_told_and_leaves_nothing_behind(run, small_disk, arguments, many):
    os.symlink(small_disk, "small")
    rows = many[:2000] if arguments[0] != "fingerprint" else [{"text": row["text"][:60]} for row in many]
    write_lines("in.jsonl", rows[:1000] if arguments[0] == "pairs" else rows)
    verb, *flags = arguments
    done = run(verb, "in.jsonl", *flags, "--quiet")
    assert done.out == b""
    if "--temp-dir" in flags:  # whose room is looked at before anything is written
        assert (done.code, NO_ROOM_FOR_FILES in done.err) == (2, True)
    else:
        assert (done.code, NO_ROOM in done.err) == (1, True)
    assert list(small_disk.iterdir()) == []
    assert files() == ["in.jsonl"]


def test_a_full_disk_for_standard_input_is_told(run, small_disk, many):
    given = json.dumps(many[0]).encode() * 1000
    run("dedup", "-", "-o", "out.jsonl", "--temp-dir", small_disk, stdin=given).refused(NO_ROOM_FOR_FILES)
    assert list(small_disk.iterdir()) == []


def test_a_read_only_file_system_is_told_before_any_work(run, small_disk):
    write_lines("in.jsonl", [{"text": FERRY}])
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    run("dedup", "in.jsonl", "-o", small_disk / "out.jsonl").refused(
        f"The folder {small_disk} cannot be written: Read-only file system. Name another output."
    )


def test_a_limit_on_the_size_of_files_leaves_nothing_behind(start, place, many):
    write_lines("in.jsonl", many[:2000])
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))  # noqa: E731
    process = start("dedup", "in.jsonl", "-o", "out.jsonl", "--quiet", prepare=limit)
    _, said = process.communicate()
    assert process.returncode == 1
    assert said == b"neardup: error: File too large\n"
    assert place.leftovers() == []
    assert files() == ["in.jsonl"]


def test_what_is_compressed_is_complete(run, many):
    write_lines("in.jsonl", many[:2000])
    run("dedup", "in.jsonl", "-o", "out.jsonl.gz", "--quiet")
    assert len(gzip.decompress(Path("out.jsonl.gz").read_bytes()).splitlines()) == 2000 - len(
        read_lines("out.duplicates.jsonl")
    )


STUCK = """
import hashlib, sys
from neardup.cli.main import main
from neardup.jobs.removal import dedup_steps

def find(*_, **__):
    print("at work", file=sys.stderr, flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # ten minutes in C, in which no exception can be raised

dedup_steps.find_duplicates = find
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("resumable", [False, True])
def test_a_run_that_cannot_be_interrupted_ends_all_the_same(start, place, number, resumable):
    write_lines("in.jsonl", [{"id": 1, "text": FERRY}])
    Path("out.jsonl").write_bytes(OLD)
    flags = ["--resume"] if resumable else []
    process = start("dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite", *flags, program=("-c", STUCK))
    next(line for line in process.stderr if line == b"at work\n")
    process.send_signal(number)
    _, said = process.communicate()
    stays = b"finished work stays in out.resume" if resumable else b"unfinished files were removed\n"
    assert (process.returncode, b"neardup: error: interrupted; " + stays in said) == (130, True)
    assert Path("out.jsonl").read_bytes() == OLD
    assert sorted(path.name for path in Path().iterdir()) == ["in.jsonl", "out.jsonl", *["out.resume"][: len(flags)]]
    assert place.leftovers() == []


def test_what_is_unfinished_is_not_removed_while_files_get_their_names(tmp_path):
    removed = []

    def remove():
        removed.append("file")
        return "a folder stays"

    with removed_by(remove):
        with ThreadPoolExecutor(1) as other:
            with undisturbed():
                told = other.submit(remove_unfinished)
                time.sleep(0.05)
                assert removed == []
            assert told.result() == "a folder stays"
        with temporary_folder(TemporaryFiles(str(tmp_path))) as folder:
            (folder.path / "a").touch()
            assert remove_unfinished() == "a folder stays"
            assert not folder.path.exists()
            folder.path.mkdir()
    assert removed == ["file"] * 2
    assert not folder.path.exists()
    assert remove_unfinished() == ""


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("filter", "--create", "--store", "seen"), b"the same command on the whole input loses no line"),
        (("filter", "--create", "--store", "seen", "-o", "new.jsonl"), b"goes on if the whole stream is sent again"),
        (("filter", "--create", "--index", "seen"), b"the same command on the whole input loses no line"),
    ],
    ids=("to a pipe", "to a file", "by an index"),
)
def test_a_stream_that_is_interrupted_says_what_comes_of_the_same_command(start, command, told):
    process = start(*command, "--verbose")
    process.stdin.write(lines([{"id": 1, "text": FERRY}]))
    process.stdin.flush()
    if "-o" in command:
        next(line for line in process.stderr if b"if this is interrupted" in line)
    else:
        assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert said.splitlines()[-1].startswith(b"neardup: error: interrupted; the same command")
    assert told in said.splitlines()[-1]
