"""A run that is killed, at any moment, goes on with --resume, does not read again what it has finished, and gives the same bytes."""

import contextlib
import fcntl
import json
import os
import pickle
import random
import shutil
import signal
import time
import traceback
from pathlib import Path

import pytest
from cli_corpora import BREAD, FERRY, ROWS, files, read_lines, survivors, write_lines

import neardup as nd
from marks import long
from neardup import dedup
from neardup.fingerprints import unit_corpus
from neardup.io.formats import jsonl
from neardup.io.outputs.outputs import Outputs
from neardup.jobs.removal.dedup import deduplicate_files
from neardup.jobs.removal.units import deduplicate_units
from restored import restore

KILLS = int(os.environ.get("NEARDUP_KILLS", "200"))
OUTPUTS = ("out/", "out.duplicates.jsonl", "removed/")


def write_corpus(shards=6, rows=60, words_in_a_line=1 << 30):
    """Texts with copies and edited copies across shards."""
    made = random.Random(7)
    words = [f"w{i}" for i in range(400)]
    texts = [" ".join(made.choices(words, k=made.randint(5, 60))) for _ in range(shards * rows // 3)]
    for shard in range(shards):
        chosen = [made.choice(texts).split() for _ in range(rows)]
        for text in chosen:
            for _ in range(made.randint(0, 2)):
                text[made.randrange(len(text))] = made.choice(words)
        write_lines(
            f"in/{shard}.jsonl",
            [{"id": f"{shard}-{i}", "text": in_lines(text, words_in_a_line)} for i, text in enumerate(chosen)],
        )


def in_lines(words, size):
    return "\n".join(" ".join(words[start : start + size]) for start in range(0, len(words), size))


def deduplicate(*arguments, unit="document", **options):
    if unit == "document":
        return deduplicate_files(*arguments, **options)
    return deduplicate_units(*arguments, unit=unit, **options)


def content(*names):
    """The bytes of all files that begin so."""
    return {name: Path(name).read_bytes() for name in files() if name.startswith(names)}


def result_of_one_go(**options):
    deduplicate("in", "out/", **options)
    found = content(*OUTPUTS)
    for name in files():
        if name.startswith(("out", "removed")):
            Path(name).unlink()
    return found


def run_and_kill_after(seconds, **options):
    """Run in a process of its own that is killed after so many seconds; whether it came to its end."""
    child = os.fork()
    if child == 0:
        try:
            deduplicate("in", "out/", resume=True, **options)
        except BaseException:
            Path("failure.txt").write_text(traceback.format_exc())
            os._exit(1)
        os._exit(0)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0, Path("failure.txt").read_text()
            return True
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) in (0, -signal.SIGKILL)
    return status == 0


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"method": "exact"},
        long({"method": "minhash", "keep": "longest"}),
        long({"method": "simhash", "cluster": "components"}),
        {"annotate": True, "against": "ref.jsonl"},
        {"unit": "line", "method": "exact", "on_error": "skip"},
        long({"unit": "paragraph", "cluster": "components", "audit": "removed/"}),
    ],
)
def test_a_run_killed_at_random_moments_gives_the_same_bytes_in_the_end(options, monkeypatch):
    monkeypatch.setattr(unit_corpus, "UNITS_AT_ONCE", 7)  # so that one batch has several parts
    write_corpus(words_in_a_line=9 if "unit" in options else 1 << 30)
    write_lines("ref.jsonl", read_lines("in/3.jsonl")[:5])
    options = options | {"threads": 1}
    expected = result_of_one_go(**options)
    began = time.monotonic()
    assert run_and_kill_after(60, **options)
    whole = time.monotonic() - began
    moments = random.Random(str(options))
    kills = 0
    while kills < KILLS / 6:
        for name in files():
            if name.startswith(("out", "removed")):
                Path(name).unlink()
        while not run_and_kill_after(moments.uniform(0, whole), **options):
            kills += 1
            assert not list(Path().glob("*.summary.json")) or content(*OUTPUTS).keys() >= expected.keys()
        assert content(*OUTPUTS) == expected
    assert not list(Path().rglob("*.partial*"))
    assert {path.name for path in Path("out.resume").iterdir()} == {"run.json", "result.json"}


class Interrupted(Exception):  # noqa: N818
    pass


def fail_after(monkeypatch, blocks):
    """Let reading fail after so many blocks; the list of the shards whose blocks were read."""
    original, read = jsonl.read_lines, []

    def read_lines(shard, *arguments, **named):
        for lines in original(shard, *arguments, **named):
            read.append(shard.name)
            if len(read) > blocks:
                raise Interrupted
            yield lines

    monkeypatch.setattr(jsonl, "read_lines", read_lines)
    return read


@pytest.mark.parametrize("unit", ["document", "line"])
@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_what_was_read_is_not_read_again(monkeypatch, method, unit):
    monkeypatch.setattr(unit_corpus, "UNITS_AT_ONCE", 7)
    write_corpus(shards=8, words_in_a_line=12)
    options = {"threads": 1, "method": method, "unit": unit}
    expected = result_of_one_go(**options)
    with monkeypatch.context() as patched:
        whole = fail_after(patched, 10**9)
        deduplicate("in", "other/", resume=True, **options)
    checks = 8  # each run looks at the first rows of each shard
    for blocks in (checks + 3, checks + 8 + 2, checks + 8 + 8 + 1, len(whole) - 2):
        with monkeypatch.context() as patched:
            fail_after(patched, min(blocks, len(whole) - 1))
            with pytest.raises(Interrupted):
                deduplicate("in", "out/", resume=True, **options)
        with monkeypatch.context() as patched:
            again = fail_after(patched, 10**9)
            deduplicate("in", "out/", resume=True, **options)
        repeated = len(again) + blocks - checks - len(whole)
        # The shard at work is read again and, where elements are counted, those since the last save.
        assert repeated <= (8 if method == "exact" else 1), (blocks, repeated)
        assert content(*OUTPUTS) == expected
        for name in files():
            if name.startswith("out"):
                Path(name).unlink()


@pytest.mark.parametrize("unit", ["document", "line"])
def test_a_run_that_is_done_is_not_done_again(run, unit):
    write_corpus(words_in_a_line=9)
    flags = ["in", "-o", "out/", "--resume", "--unit", unit]
    first = run("dedup", *flags, "--json").ok()
    before = content("out")
    done = run("dedup", *flags, "--json")
    assert (done.code, done.out) == (0, first.out)
    assert "out.resume: this run was done before" in done.err
    assert content("out") == before
    Path("out/3.jsonl").unlink()
    assert run("dedup", *flags, "--overwrite").code == 0
    assert content(*OUTPUTS) == {name: before[name] for name in before if name.startswith(OUTPUTS)}


def interrupted_run(monkeypatch, **options):
    write_corpus()
    with monkeypatch.context() as patched:
        fail_after(patched, 9)
        with pytest.raises(Interrupted):
            deduplicate_files("in", "out/", resume=True, threads=1, **options)


def test_the_folder_of_another_recipe_is_refused(monkeypatch):
    interrupted_run(monkeypatch)
    with pytest.raises(nd.RecipeMismatch) as problem:
        deduplicate_files("in", "out/", resume=True, recipe=nd.Recipe(bits=64, max_distance=10))
    assert "out.resume has the work of another run: recipe: bits was 128, is 64, digest was" in str(problem.value)
    assert "Run as before, or remove that folder and begin anew." in str(problem.value)


def test_the_folder_of_other_inputs_is_refused_and_they_are_named(monkeypatch, run):
    interrupted_run(monkeypatch)
    write_lines("in/3.jsonl", ROWS)
    write_lines("in/9.jsonl", ROWS)
    run("dedup", "in", "-o", "out/", "--resume").refused(
        "out.resume has the work of another run: inputs have changed: in/3.jsonl, in/9.jsonl."
    )


def test_an_input_that_changed_with_its_size_and_time_kept_is_noticed(monkeypatch, run):
    interrupted_run(monkeypatch)
    [shard, *_] = sorted(Path("in").iterdir())
    before = shard.stat()
    content = shard.read_bytes()
    shard.write_bytes(content[:60].upper() + content[60:])
    os.utime(shard, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (shard.stat().st_size, shard.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    with pytest.raises(nd.RecipeMismatch, match=f"inputs have changed: {shard}"):
        deduplicate_files("in", "out/", resume=True)


def test_of_two_that_go_on_at_once_one_is_refused(monkeypatch):
    interrupted_run(monkeypatch)
    content = {path: path.read_bytes() for path in Path("out.resume").rglob("*") if path.is_file()}
    with (
        open_folder("out.resume"),
        pytest.raises(nd.InputError, match="Another process goes on with the run in out.resume"),
    ):
        deduplicate_files("in", "out/", resume=True)
    assert {path: path.read_bytes() for path in Path("out.resume").rglob("*") if path.is_file()} == content
    deduplicate_files("in", "out/", resume=True)
    deduplicate_files("in", "out/", resume=True)  # done before: nobody holds the folder


@contextlib.contextmanager
def open_folder(path):
    """The folder as another process has it that uses it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def test_the_folder_of_other_options_is_refused_but_threads_may_differ(monkeypatch):
    interrupted_run(monkeypatch)
    for options, named in (
        ({"min_similarity": 0.7}, "options: min_similarity was 0.8, is 0.7"),
        ({"keep": "last"}, "options: keep was 'first', is 'last'"),
        ({"text": "id"}, "reading: text was ['text'], is ['id']"),
        ({"annotate": True}, "annotate was False, is True"),
        ({"memory": "1G"}, "options: memory was "),
        ({"unit": "line"}, "unit was None, is 'line'"),
    ):
        with pytest.raises(nd.RecipeMismatch) as problem:
            deduplicate("in", "out/", resume=True, **options)
        assert named in str(problem.value)
    deduplicate_files("in", "out/", resume=True, threads=3)
    assert content(*OUTPUTS) == result_of_one_go_elsewhere()


def result_of_one_go_elsewhere():
    deduplicate_files("in", "other/")
    return {name.replace("other", "out", 1): found for name, found in content("other/", "other.duplicates").items()}


def test_a_file_of_the_folder_that_is_damaged_is_told(monkeypatch):
    interrupted_run(monkeypatch)
    path = next(Path("out.resume/inputs-fingerprint").glob("*.done"))
    for damaged in (b"cos\nsystem\n(S'exit 3'\ntR.", path.read_bytes()[:-20], b"\x80"):
        path.write_bytes(damaged)
        with pytest.raises(nd.DataError, match="is damaged .*Remove the folder out.resume/inputs-fingerprint"):
            deduplicate_files("in", "out/", resume=True)


FLIPS = int(os.environ.get("NEARDUP_FLIPS", "150"))


@pytest.mark.parametrize(
    ("options", "room"),
    [
        ({"method": "exact"}, 0),
        ({"method": "exact"}, None),
        ({"method": "minhash", "against": "ref.jsonl"}, None),
        ({"unit": "line", "method": "exact", "similarity": "edit"}, None),
    ],
)
def test_a_flipped_bit_is_told_or_changes_nothing(monkeypatch, options, room):
    """Of every kind of file that a run keeps: those of passes and steps, states, the record of the run and of its outputs."""
    if room is not None:  # elements find no room, so texts are read again for each pass
        monkeypatch.setattr(dedup, "room_for_elements", lambda _: room)
    write_corpus(shards=3, rows=20, words_in_a_line=9)
    write_lines("ref.jsonl", read_lines("in/1.jsonl")[:5])
    options = options | {"threads": 1}
    expected = result_of_one_go(**options)
    with monkeypatch.context() as patched:
        patched.setattr(Outputs, "commit", lambda *_: fail())
        with pytest.raises(Interrupted):
            deduplicate("in", "out/", resume=True, **options)
    kept = {name for name in files() if name.startswith("out")}
    contents = {name: Path(name).read_bytes() for name in sorted(kept) if name.startswith("out.resume/")}
    assert len({Path(name).parent / Path(name).suffix for name in contents}) >= 4
    shutil.copytree(".", "../before")
    chosen, outcomes = random.Random(str(options)), []
    for number in range(FLIPS // 4):
        name = list(contents)[number % len(contents)]
        restore(Path(), Path("../before"))
        for step in {"out.resume/candidates.done", "out.resume/decisions.done"} - {name}:  # or passes are not read
            Path(step).unlink()
        place = chosen.randrange(len(contents[name]))
        flip(name, place, chosen)
        problem = problem_of(lambda: deduplicate("in", "out/", resume=True, **options))
        outcomes.append(problem is not None)
        assert problem is not None or content(*OUTPUTS) == expected, (name, place)
        if problem is not None:
            assert "out.resume" in problem, (name, place)
            assert "is damaged" in problem or "another version" in problem
    assert sum(outcomes) > len(outcomes) / 2


def flip(name, place, chosen):
    """Change one bit of a byte of a file."""
    damaged = bytearray(Path(name).read_bytes())
    damaged[place] ^= 1 << chosen.randrange(8)
    Path(name).write_bytes(damaged)


def problem_of(work):
    """What is said of damaged data; None if the work comes to its end."""
    try:
        work()
    except nd.DataError as problem:
        return str(problem)
    return None


def fail():
    raise Interrupted


def test_the_record_of_a_run_that_is_done_and_damaged_is_told(run):
    write_lines("in.jsonl", ROWS)
    flags = ["in.jsonl", "-o", "out.jsonl", "--resume"]
    assert run("dedup", *flags).code == 0
    whole = Path("out.resume/result.json").read_bytes()
    for damaged in (whole[:-5], whole.replace(b"documents", b"dokuments"), b"[]", b"5", b"\xff"):
        Path("out.resume/result.json").write_bytes(damaged)
        run("dedup", *flags).refused(
            "out.resume/result.json is damaged. Remove out.resume, and the run begins anew", code=1
        )
    Path("out.resume/result.json").write_bytes(whole)
    before = deduplicate_files("in.jsonl", "out.jsonl", resume=True)
    chosen, results = random.Random(1), []
    for place in chosen.sample(range(len(whole)), 60):
        Path("out.resume/result.json").write_bytes(whole)
        flip("out.resume/result.json", place, chosen)
        problem = problem_of(lambda: results.append(deduplicate_files("in.jsonl", "out.jsonl", resume=True)))
        assert problem is None or "out.resume/result.json is damaged" in problem
    assert all(result == before for result in results)


def test_a_folder_of_pickles_is_refused_and_not_read(run):
    write_lines("in.jsonl", ROWS)
    Path("out.resume/inputs-fingerprint").mkdir(parents=True)
    Path("out.resume/inputs-fingerprint/000000.done").write_bytes(pickle.dumps({"of": "an older version"}))
    Path("out.resume/run.json").write_text(json.dumps({"inputs": [], "versions": {"neardup": "0.1"}}, indent=2))
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--resume").refused(
        "out.resume was begun by an older version of neardup", "Remove it, and the run begins anew."
    )


@pytest.mark.parametrize("unit", ["document", "line"])
@pytest.mark.parametrize("similarity", ["jaccard", "edit"])
def test_a_run_that_resumes_reads_no_text_more_often_than_another(monkeypatch, unit, similarity):
    write_corpus(words_in_a_line=9)
    options = {"threads": 1, "method": "exact", "similarity": similarity, "unit": unit}
    read = []
    for output, resume in (("plain/", False), ("out/", True)):
        with monkeypatch.context() as patched:
            read.append(fail_after(patched, 10**9))
            deduplicate("in", output, resume=resume, **options)
    assert sorted(read[0]) == sorted(read[1])
    assert list(content("out/").values()) == list(content("plain/").values())


@pytest.mark.parametrize(("first", "then"), [(0, 1 << 30), (1 << 30, 0), (2_000, 1 << 30), (1 << 30, 2_000)])
def test_the_room_for_elements_may_change_between_two_starts(monkeypatch, first, then):
    """What was saved without elements, or with them, serves a run that keeps them, or does not."""
    write_corpus()
    options = {"threads": 1, "method": "exact"}
    expected = result_of_one_go(**options)
    checks = 6  # each run looks at the first rows of each shard
    with monkeypatch.context() as patched:
        patched.setattr(dedup, "room_for_elements", lambda _: first)
        fail_after(patched, checks + 4)
        with pytest.raises(Interrupted):
            deduplicate("in", "out/", resume=True, **options)
    monkeypatch.setattr(dedup, "room_for_elements", lambda _: then)
    deduplicate("in", "out/", resume=True, **options)
    assert content(*OUTPUTS) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["in.jsonl", "-o", "-"], "--resume keeps its work beside the output. Give -o a file or a folder."),
        (["in.jsonl", "--dry-run"], "--resume keeps its work beside the output."),
        (["-", "-o", "out.jsonl"], "--resume: standard input cannot be read again. Name files."),
        (["in.jsonl", "-o", "in.jsonl", "--overwrite"], "in.jsonl is an input, and no run replaces what it reads."),
        (["in.jsonl", "-o", "used.jsonl"], "used.resume is to keep the work of this run, but has other files."),
        (["in.jsonl", "-o", "file.jsonl"], "file.resume is to keep the work of this run: "),
        (["in.jsonl", "-o", "odd.jsonl"], "odd.resume/run.json is damaged. Remove odd.resume"),
    ],
)
def test_what_cannot_be_resumed_is_refused(run, arguments, message):
    write_lines("in.jsonl", ROWS)
    write_lines("used.resume/mine.jsonl", ROWS)
    Path("file.resume").write_text("")
    write_lines("odd.resume/run.json", [])
    before = content("")
    done = run("dedup", *arguments, "--resume", stdin=b'{"text": "a"}\n')
    assert (done.code, content("")) == (2, before)
    assert message in done.err


def test_one_file_for_all_shards_is_resumed_too(monkeypatch):
    write_lines("in/a.jsonl", ROWS)
    write_lines("in/b.jsonl", [{"id": "again", "text": FERRY}, {"id": "bread3", "text": BREAD}])
    with monkeypatch.context() as patched:
        fail_after(patched, 3)
        with pytest.raises(Interrupted):
            deduplicate_files("in", "out.jsonl.gz", resume=True, threads=1)
    deduplicate_files("in", "out.jsonl.gz", resume=True)
    deduplicate_files("in", "plain.jsonl")
    assert survivors("plain.jsonl") == ["ferry", "bread", "bridge"]
    assert content("out.duplicates").values() != []
    assert Path("out.duplicates.jsonl").read_bytes() == Path("plain.duplicates.jsonl").read_bytes()
