"""`run` calls the command line in this process, `start` as a process of its own; both in an empty folder."""

import io
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

import neardup
from neardup.cli.main import main


@dataclass(frozen=True)
class Done:
    """What a call left: exit code, standard output, standard error."""

    code: int
    out: bytes
    err: str

    def ok(self, *words):
        """The same, of a call that succeeded and said these words."""
        return self.refused(*words, code=0)

    def refused(self, *words, code=2):
        """The same, of a call that ended with this code and said these words."""
        assert self.code == code, self.err
        return self.said(*words)

    def said(self, *words):
        """The same, of a call that said these words on standard error."""
        for each in words:
            assert each in self.err
        return self


@dataclass(frozen=True)
class Place:
    """The folder that a test works in, and the one for temporary files."""

    work: Path
    temporary: Path

    def leftovers(self):
        """Temporary files, wherever they are."""
        return [*self.temporary.rglob("*"), *(path for path in self.work.rglob(".*") if ".partial-" in path.name)]


@pytest.fixture(scope="session")
def kernel_cache():
    """The folder where Numba keeps kernels, found before tests choose other folders for temporary files; None without Numba."""
    from neardup.kernels import compilation

    if not compilation.JIT:
        return None
    compilation.quiet()  # what is told is told by the commands
    return compilation.jit.cache_folder().parent


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch, kernel_cache):
    found = Place(tmp_path / "work", tmp_path / "temporary")
    found.work.mkdir()
    found.temporary.mkdir()
    monkeypatch.chdir(found.work)
    monkeypatch.setattr(tempfile, "tempdir", str(found.temporary))
    monkeypatch.setenv("TMPDIR", str(found.temporary))
    if kernel_cache is not None:
        monkeypatch.setenv("NEARDUP_CACHE_DIR", str(kernel_cache))
    source = str(Path(neardup.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")])))
    return found


@pytest.fixture
def run(place, capsysbinary, monkeypatch):
    """Call `neardup` with these arguments; whatever comes of it, no temporary file stays."""

    def call(*arguments, stdin=b"", leaves_nothing=True):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsysbinary.readouterr()
        sys.stderr.reconfigure(errors="backslashreplace")  # as that of a process
        try:
            code = main([str(argument) for argument in arguments]) or 0
        except SystemExit as end:
            code = end.code
        shown = capsysbinary.readouterr()
        assert place.leftovers() == [] or not leaves_nothing
        return Done(code, shown.out, shown.err.decode())

    return call


@pytest.fixture
def start(place):
    """Start `neardup` as a process."""
    started = []

    def call(*arguments, prepare=lambda: None, program=("-m", "neardup"), **streams):
        def begin():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # a runner in the background ignores some
                signal.signal(number, signal.SIG_DFL)
            prepare()

        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | streams
        command = [sys.executable, *program, *map(str, arguments)]
        process = subprocess.Popen(command, cwd=place.work, preexec_fn=begin, **streams)
        started.append(process)
        return process

    yield call
    for process in started:
        with process:
            process.kill()
