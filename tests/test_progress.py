"""What is told of a run while it goes on."""

import dataclasses
import gzip
import io
import json
import re
import sys
import time
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup import OptionError, deduplicate, deduplicate_files, evaluate, fingerprint_files, match
from neardup.display import duration
from neardup.progress import Progress, progress_of
from neardup.resources.progress import lines as progress_lines
from neardup.resources.progress import stages as progress_redrawn
from neardup.resources.progress.element import MAX_MESSAGES, NotebookProgress, StageTable
from neardup.resources.progress.events import CalledProgress
from neardup.resources.progress.lines import LogProgress, TerminalProgress
from neardup.resources.progress.stage import Stage, told
from neardup.resources.spool import Spool, mapped_array
from neardup.resources.temporary_files import TemporaryFiles
from neardup.resources.unfinished import remove_unfinished


class Clock:
    """A clock that goes on by so many seconds a look."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


class Watched(Progress):
    """Keeps how far each stage was at every step."""

    def __init__(self):
        super().__init__()
        self.shares = {}

    def read(self, count):
        super().read(count)
        self.shares.setdefault(self.at.name, []).append(self.at.share)


def test_a_stage_of_documents_knows_its_share_and_the_time_that_is_left():
    stage = Stage("count", 400, began=10.0, documents=100, read_bytes=5_000_000)
    assert stage.share == 0.25
    assert stage.seconds_left(20.0) == 30.0
    assert told(stage, 20.0) == "25 %, about 30 s left, 100 documents, 10 documents/s, 488.3 KiB/s of the files"


def test_a_stage_of_an_unknown_number_of_documents_goes_by_bytes():
    stage = Stage("fingerprint", None, began=0.0, documents=3, read_bytes=30, total_bytes=120)
    assert (stage.share, stage.seconds_left(2.0)) == (0.25, 6.0)


def test_a_stage_of_which_nothing_is_known_promises_nothing():
    stage = Stage("join", None, began=0.0)
    assert (stage.share, stage.seconds_left(5.0), told(stage, 5.0)) == (None, None, "")
    assert stage.rates(0.0) == ""


def test_a_log_that_is_not_verbose_has_a_line_every_half_minute_of_short_stages(capsys):
    progress = LogProgress(clock=Clock(8.0), verbose=False)
    for number in range(5):
        with progress.stage(f"part {number}"):
            pass
    assert capsys.readouterr().err.splitlines() == ["neardup: part 2 …", "neardup: part 4 …"]


def test_a_log_has_a_line_a_stage_and_one_every_half_minute_of_a_long_one(capsys):
    progress = LogProgress(clock=Clock(8.0))
    with progress.stage("count", 60):
        for _ in range(6):
            progress.advance(10)
    assert capsys.readouterr().err.splitlines() == [
        "neardup: count: 67 %, about 20 s left, 40 documents, 1 documents/s",
        "neardup: count: 64.0 s, 60 documents, 1 documents/s",
    ]


class Screen(io.StringIO):
    """Standard error that is a terminal, and what can be seen on it."""

    def isatty(self):
        return True

    def lines(self):
        """The lines as they look: text after a carriage return is written over what its line has."""
        seen = []
        for line in self.getvalue().split("\n"):
            cells = ""
            for written in line.split("\r"):
                cells = written + cells[len(written) :]
            seen.append(cells.rstrip())
        return seen

    def wait_for(self, text, times=1):
        deadline = time.monotonic() + 10
        while self.getvalue().count(text) < times:
            assert time.monotonic() < deadline, self.getvalue()
            time.sleep(0.005)


@pytest.fixture
def on_screen(monkeypatch):
    """Makes a `Screen` standard error; as a function, for pytest exchanges standard error before each test."""

    def open_screen():
        screen = Screen()
        monkeypatch.setattr(sys, "stderr", screen)
        return screen

    monkeypatch.setattr(progress_redrawn, "REDRAW_SECONDS", 0.01)
    return open_screen


def test_a_terminal_is_shown_one_line_that_moves_and_then_what_the_stage_took(on_screen):
    screen = on_screen()
    progress = progress_of(True)
    with progress.stage("fingerprint"):
        progress.expect(200)
        progress.advance(5)
        progress.read(100)
        screen.wait_for("50 %", times=2)
        [line] = screen.lines()
        assert re.match(r"fingerprint   50 %  \[={10}> {9}\]  about \d s left  5 documents  ", line)
        assert len(line) < 80
        progress.say("half of it is short")
        screen.wait_for("50 %", times=1 + screen.getvalue().count("50 %"))
        assert [line[:28] for line in screen.lines()] == [
            "neardup: half of it is short",
            "fingerprint   50 %  [=======",
        ]
    drawn = screen.getvalue()
    time.sleep(0.05)
    assert screen.getvalue() == drawn
    [said, *ended, rest] = screen.lines()
    assert re.fullmatch(
        r"neardup: fingerprint: \d\.\d s, 5 documents, .* of the files", " ".join(map(str.strip, ended))
    )
    assert (said, rest) == ("neardup: half of it is short", "")


@pytest.mark.parametrize("can_raise", [True, False], ids=["by an exception", "from another thread"])
def test_an_interrupted_stage_leaves_no_part_of_its_line_on_the_terminal(on_screen, can_raise):
    screen = on_screen()
    progress = TerminalProgress()
    with suppress(KeyboardInterrupt), progress.stage("join"):
        screen.wait_for("join  0 s")
        if can_raise:
            raise KeyboardInterrupt
        remove_unfinished()
        drawn = screen.getvalue()
        time.sleep(0.05)
        assert screen.getvalue() == drawn
        assert screen.lines() == [""]
    [ended, rest] = screen.lines()
    assert re.fullmatch(r"neardup: join: \d\.\d s", ended)
    assert rest == ""


def test_messages_on_a_terminal_are_broken_between_words_and_commands_stay_whole(capsys, monkeypatch):
    monkeypatch.setattr(progress_lines, "_columns", lambda: 30)
    TerminalProgress().say(
        "the corpus is larger than the memory: `neardup dedup in.jsonl --memory 4G` takes less of it"
    )
    lines = capsys.readouterr().err.splitlines()
    command = "`neardup dedup in.jsonl --memory 4G`"
    assert [line for line in lines if len(line) > 29] == [f"  {command}"]
    assert " ".join(line.strip() for line in lines) == (
        f"neardup: the corpus is larger than the memory: {command} takes less of it"
    )


def test_a_stage_that_ends_at_once_has_no_moving_line(on_screen, monkeypatch):
    screen = on_screen()
    monkeypatch.setattr(progress_redrawn, "REDRAW_SECONDS", 10)
    with TerminalProgress(clock=Clock(1.0)).stage("join"):
        pass
    assert screen.getvalue() == "neardup: join: 1.0 s\n"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (40, "40 s"),
        (719.9, "12 minutes"),
        (12_600, "3.5 hours"),
        (259_200, "3.0 days"),
        (1e6, "12 days"),
        (1e10, "317 years"),
    ],
)
def test_durations_are_told_in_the_unit_that_is_read_best(seconds, said):
    assert duration(seconds) == said


def write_shards(tmp_path):
    rows = [{"id": number, "text": f"document {number} of many, " * 40} for number in range(30_000)]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (tmp_path / "plain.jsonl").write_bytes(lines)
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(lines, 1))
    (tmp_path / "none.jsonl").write_bytes(b"")
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "table.parquet", row_group_size=10_000)


@pytest.mark.parametrize("name", ["plain.jsonl", "packed.jsonl.gz", "table.parquet"])
def test_the_first_pass_knows_its_share_by_the_bytes_of_each_format(tmp_path, name):
    write_shards(tmp_path)
    progress = Watched()
    result = deduplicate_files(tmp_path / name, dry_run=True, progress=progress)
    shares = progress.shares["fingerprint"]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert any(0 < share < 0.9 for share in shares)
    assert result.summary.read_bytes["fingerprint"] == (tmp_path / name).stat().st_size


def test_a_file_of_fingerprints_a_shard_counts_the_bytes_of_all_shards(tmp_path):
    write_shards(tmp_path)
    (tmp_path / "table.parquet").unlink()
    progress = Watched()
    fingerprint_files(tmp_path, f"{tmp_path}/out/", progress=progress)
    shares = progress.shares["fingerprint"]
    assert shares == sorted(shares)
    assert shares[0] < 1.0 == shares[-1]
    assert progress.read_bytes == {
        "fingerprint": sum(path.stat().st_size for path in tmp_path.iterdir() if path.is_file())
    }


def test_the_summary_counts_bytes_read_and_written_by_stage(tmp_path):
    write_shards(tmp_path)
    output = tmp_path / "out.jsonl"
    result = deduplicate_files(tmp_path / "plain.jsonl", str(output))
    size = (tmp_path / "plain.jsonl").stat().st_size
    summary = result.summary
    assert summary.read_bytes["write"] == size
    assert summary.read_bytes["total"] == sum(count for name, count in summary.read_bytes.items() if name != "total")
    audit = tmp_path / "out.duplicates.jsonl"
    assert summary.written_bytes == {
        "write": output.stat().st_size + audit.stat().st_size,
        "total": output.stat().st_size + audit.stat().st_size,
    }


def test_temporary_files_are_counted_at_their_height(tmp_path):
    files = TemporaryFiles(str(tmp_path))
    with Spool(np.uint64, files=files) as spool:
        spool.write(np.zeros(1000, np.uint64))
        mapped = mapped_array(500, np.uint32, files=files)
        del mapped
        spool.write(np.zeros(10, np.uint64))
    assert files.peak == 10_000


def test_a_function_hears_of_the_beginning_and_the_end_of_every_stage_and_in_between_in_time():
    events = []
    progress = CalledProgress(events.append, clock=Clock(0.04))
    with progress.stage("count", 60):
        for _ in range(6):
            progress.advance(10)
        progress.say("half of it is short")
    assert [(event.stage, event.done, event.ended, event.message) for event in events] == [
        ("count", 0, False, ""),
        ("count", 30, False, ""),
        ("count", 60, False, ""),
        ("count", 60, False, "half of it is short"),
        ("count", 60, True, ""),
    ]
    middle = events[1]
    assert (middle.total, middle.share, middle.read_bytes, middle.total_bytes) == (60, 0.5, 0, 0)
    assert middle.seconds == pytest.approx(middle.seconds_left)
    assert middle.rate == pytest.approx(30 / middle.seconds)
    with pytest.raises(dataclasses.FrozenInstanceError):
        middle.done = 5


TEXTS = [
    "a ferry leaves from the old pier at nine",
    "A ferry leaves from the old pier at nine!",
    "bread is baked at night",
]


def test_texts_in_memory_and_files_tell_a_function_of_their_stages(tmp_path):
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
    for call in (
        lambda told: deduplicate(TEXTS, progress=told),
        lambda told: match(TEXTS, progress=told),
        lambda told: evaluate(TEXTS, progress=told),
        lambda told: deduplicate_files(tmp_path / "in.jsonl", dry_run=True, progress=told),
        lambda told: fingerprint_files(tmp_path / "in.jsonl", str(tmp_path / "out.parquet"), progress=told),
    ):
        events = []
        call(events.append)
        assert [event.done for event in events if event.ended and event.stage == "fingerprint"] == [3]


def test_what_a_function_raises_ends_the_run():
    def stop(event):
        raise InterruptedError(event.stage)

    with pytest.raises(InterruptedError, match="fingerprint"):
        deduplicate(TEXTS, progress=stop)


def test_true_shows_lines_where_there_is_no_terminal_and_false_nothing(capsys):
    deduplicate(TEXTS, progress=False)
    assert capsys.readouterr().err == ""
    deduplicate(TEXTS, progress=True)
    assert "neardup: fingerprint: " in capsys.readouterr().err


class Shell:
    """IPython's shell in a notebook, which has a kernel, and its display."""

    kernel = object()

    def __init__(self, monkeypatch):
        self.shown = []
        found = SimpleNamespace(get_ipython=lambda: self, display=self.display)
        for name in ("IPython", "IPython.display"):
            monkeypatch.setitem(sys.modules, name, found)

    def display(self, shown, **options):
        assert options == {"raw": True, "display_id": True}
        self.shown.append([shown])
        return SimpleNamespace(update=lambda shown, raw: self.shown[-1].append(shown))


def test_only_the_kernel_of_a_notebook_is_shown_an_element(monkeypatch, capsys):
    shell = Shell(monkeypatch)
    assert type(progress_of(True)) is NotebookProgress
    monkeypatch.setattr(Shell, "kernel", None)  # IPython in a terminal
    assert type(progress_of(True)) is LogProgress
    monkeypatch.delitem(sys.modules, "IPython")
    assert type(progress_of(True)) is LogProgress
    assert shell.shown == []


def test_a_notebook_is_shown_one_element_a_run_and_nothing_on_its_streams(monkeypatch, capsys):
    shell = Shell(monkeypatch)
    for _ in range(2):
        deduplicate(TEXTS, progress=True)
    assert len(shell.shown) == 2
    assert "all stages" in shell.shown[0][-1]["text/html"]
    assert shell.shown[0][-1]["text/plain"].startswith("neardup: fingerprint ")
    assert capsys.readouterr() == ("", "")


def test_the_element_moves_while_a_stage_goes_on_and_says_that_one_was_stopped(monkeypatch):
    shell = Shell(monkeypatch)
    monkeypatch.setattr(progress_redrawn, "REDRAW_SECONDS", 0.01)
    progress = NotebookProgress(wording=str.upper)
    with suppress(KeyboardInterrupt), progress.stage("<join>", 4):
        progress.advance(1)
        deadline = time.monotonic() + 10
        while not shell.shown or len(shell.shown[0]) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        progress.say("half & half")
        raise KeyboardInterrupt
    first, *_, last = shell.shown[0]
    assert "<td>&lt;join&gt;</td>" in first["text/html"]
    moved = "<progress aria-label='&lt;join&gt;' value='0.250'></progress>25 %, "
    assert any(moved in each["text/html"] for each in shell.shown[0])
    assert first["text/plain"] == "neardup: <join> …"
    assert "<td>✗</td><td>&lt;join&gt;</td>" in last["text/html"]
    assert "<td>stopped, 1 documents" in last["text/html"]
    assert "<p>HALF &amp; HALF</p>" in last["text/html"]
    drawn = len(shell.shown[0])
    time.sleep(0.05)
    assert len(shell.shown[0]) == drawn


def test_stages_of_one_name_are_one_row_short_ones_have_none_and_old_messages_go():
    table = StageTable()
    for end in (1.0, 2.0):
        table.end(Stage("recipes", None, began=0.0, documents=3), end, 1.0)
    table.end(Stage("choose", None, began=0.0), 0.01, 1.0)
    for number in range(30):
        table.say(f"message {number}")
    shown = table.html(None, 3.0)
    assert "<td>recipes</td><td>2.0 s</td><td>6 documents</td>" in shown
    assert "choose" not in shown
    assert "<td>all stages</td><td>2.0 s</td>" in shown
    assert shown.count("<p>") == MAX_MESSAGES
    assert "<p>message 29</p></div>" in shown


def test_a_progress_that_is_none_is_refused():
    with pytest.raises(OptionError, match="`progress='yes'`: give True, or a function that takes a ProgressEvent"):
        deduplicate(TEXTS, progress="yes")
