"""Libraries of compiled kernels: which one is loaded, what is refused, and what a call accepts."""

import hashlib
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from guards import not_empty
from neardup.kernels import compilation
from neardup.kernels.native import library
from neardup.kernels.native.describe import types_of, unknown_version
from neardup.kernels.native.signatures import Signatures, parse
from places import ROOT

NATIVE = pytest.mark.skipif(not compilation.LEVEL, reason="no compiled kernels are loaded: make kernels")
SOURCES = library.source_digest()
PROGRAM = "import neardup; from neardup.kernels import compilation; import sys; print(compilation.described(), 'numba' in sys.modules)"


def run(program=PROGRAM, **environment):
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("NEARDUP_", "NUMBA_"))}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=variables | {name: str(value) for name, value in environment.items()},
        capture_output=True,
        text=True,
        timeout=280,
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


@pytest.fixture
def installed(tmp_path):
    """A copy of the libraries, to be damaged."""
    for name in (library.BUILT, library.PROCESSOR, *map(library.file_of, library.LEVELS)):
        if (library.FOLDER / name).exists():
            shutil.copy(library.FOLDER / name, tmp_path)
    return tmp_path


def load(folder, wanted="auto", sources=SOURCES):
    return library.load(wanted, sources, unknown_version, folder)


def put(folder, name, content):
    """Replace a file, and its digest in the record; what is open elsewhere stays as it is."""
    (folder / name).unlink()
    (folder / name).write_bytes(content)
    record(folder, **{name: hashlib.sha256(content).hexdigest()})


def record(folder, *gone, **digests):
    path = folder / library.BUILT
    built = json.loads(path.read_text())
    built["files"] = {name: value for name, value in (built["files"] | digests).items() if name not in gone}
    path.write_text(json.dumps(built))


def on(monkeypatch, level):
    """A processor of that level."""
    real = library.extension

    class Processor:
        @staticmethod
        def level():
            return level

    monkeypatch.setattr(library, "extension", lambda path: Processor if path.name == library.PROCESSOR else real(path))


@NATIVE
def test_the_library_of_this_processor_is_loaded_without_numba():
    code, out, err = run()
    assert (code, out, err) == (0, f"compiled ahead of time for {compilation.LEVEL} False", "")


def test_without_libraries_the_reason_is_said(tmp_path):
    with pytest.raises(library.Unusable, match="none are installed for this platform"):
        load(tmp_path)


@NATIVE
@pytest.mark.parametrize("content", ["", "{", "[]", '{"sources": 1}', '{"sources": "x", "files": 3}'])
def test_a_damaged_record_is_refused(installed, content):
    (installed / library.BUILT).write_text(content)
    with pytest.raises(library.Unusable, match="built.json is damaged"):
        load(installed)


@NATIVE
def test_libraries_of_other_sources_are_refused(installed):
    with pytest.raises(library.Unusable, match="the sources of kernels have changed since they were compiled"):
        load(installed, sources="0" * 16)


@NATIVE
@pytest.mark.parametrize("name", [library.PROCESSOR, library.file_of(compilation.LEVEL or "v2")])
def test_a_damaged_file_is_refused_before_it_is_opened(installed, name):
    content = bytearray((installed / name).read_bytes())
    content[len(content) // 2] ^= 1
    (installed / name).write_bytes(content)
    with pytest.raises(library.Unusable, match=f"{name} is damaged, or not the one that was built"):
        load(installed)


@NATIVE
@pytest.mark.parametrize("name", [library.PROCESSOR, library.file_of(compilation.LEVEL or "v2")])
@pytest.mark.parametrize("content", [b"", b"not a library", b"\x7fELF" + b"\0" * 100])
def test_a_foreign_file_is_refused(installed, name, content):
    put(installed, name, content)
    with pytest.raises(library.Unusable, match=f"{name} cannot be loaded"):
        load(installed)


@NATIVE
@pytest.mark.parametrize("name", [library.PROCESSOR, library.file_of(compilation.LEVEL or "v2")])
def test_a_file_that_is_missing_is_refused(installed, name):
    (installed / name).unlink()
    with pytest.raises(library.Unusable, match="No such file"):
        load(installed)


@NATIVE
def test_a_processor_below_every_level_is_told(installed, monkeypatch):
    on(monkeypatch, "")
    with pytest.raises(library.Unusable, match="this processor is below the lowest level"):
        load(installed)


@NATIVE
def test_the_highest_level_that_processor_and_installation_have_is_chosen(installed, monkeypatch):
    record(installed, library.file_of("v4"), **{library.file_of(level): "0" for level in ("v2", "v3")})
    for level in ("v2", "v3"):
        (installed / library.file_of(level)).write_bytes(b"")
    for has, file in (("v2", "kernels_v2"), ("v3", "kernels_v3"), ("v4", "kernels_v3")):
        on(monkeypatch, has)
        with pytest.raises(library.Unusable, match=f"{file}.abi3.so is damaged"):
            load(installed)
    on(monkeypatch, "v2")
    with pytest.raises(library.Unusable, match="this processor has v2, not v3"):
        load(installed, wanted="v3")
    on(monkeypatch, "a64")
    with pytest.raises(library.Unusable, match="this processor has a64, not v2"):
        load(installed, wanted="v2")
    on(monkeypatch, "v2")
    record(installed, *map(library.file_of, ("v2", "v3", "a64")), **{library.file_of("v4"): "0"})
    with pytest.raises(library.Unusable, match="they are installed for v4, not for v2"):
        load(installed)


def test_an_unknown_choice_of_kernels_is_refused_in_one_line():
    program = "from neardup.cli.main import main; main(['compare', '--text', 'a', 'b'])"
    code, _, err = run(program, NEARDUP_KERNELS="fast")
    assert code == 2
    assert err == ("neardup: error: NEARDUP_KERNELS='fast': give one of auto, v2, v3, v4, a64, jit, interpreted")


@NATIVE
def test_a_level_that_this_processor_lacks_is_refused_in_one_line():
    lacking = [level for level in library.LEVELS if level not in library.levels_up_to(compilation.LEVEL)]
    code, _, err = run(
        "from neardup.cli.main import main; main(['compare', '--text', 'a', 'b'])", NEARDUP_KERNELS=lacking[-1]
    )
    assert code == 2
    assert err.count("\n") == 0
    assert f"NEARDUP_KERNELS={lacking[-1]}: these kernels cannot be used: this processor has" in err


def test_kernels_are_interpreted_where_numba_is_told_so():
    assert run(NUMBA_DISABLE_JIT=1) == (0, "interpreted False", "")
    assert run(NEARDUP_KERNELS="interpreted") == (0, "interpreted False", "")


def test_without_numba_and_without_libraries_the_command_that_helps_is_named(tmp_path):
    (tmp_path / "numba.py").write_text("raise ModuleNotFoundError(\"No module named 'numba'\", name='numba')")
    program = "from neardup.cli.main import main; main(['compare', '--text', 'a', 'b'])"
    code, _, err = run(program, NEARDUP_KERNELS="jit", PYTHONPATH=tmp_path)
    assert code == 2
    assert err == (
        "neardup: error: NEARDUP_KERNELS=jit needs Numba, which compiles kernels at first use: pip install 'neardup[jit]'"
    )


@NATIVE
def test_a_read_only_home_is_no_matter_to_compiled_kernels(tmp_path):
    (tmp_path / "home").write_text("")
    program = "import neardup as nd; print(len(nd.deduplicate(['a b c', 'a b c']).survivors))"
    assert run(program, HOME=tmp_path / "home", XDG_CACHE_HOME=tmp_path / "home", TMPDIR=tmp_path) == (0, "1", "")
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


@NATIVE
def test_two_versions_side_by_side_load_their_own_libraries(tmp_path):
    copy = tmp_path / "src"
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
    program = f"{PROGRAM}; print(neardup.__file__)"
    assert run(program, PYTHONPATH=copy)[1].startswith(f"compiled ahead of time for {compilation.LEVEL} False\n{copy}")
    constants = copy / "neardup/kernels/constants.py"
    constants.write_text(constants.read_text() + "OTHER = 1\n")
    code, out, err = run(program, PYTHONPATH=copy)
    assert (code, err) == (0, "")
    assert out.startswith("compiled at first use by Numba")
    assert run()[1] == f"compiled ahead of time for {compilation.LEVEL} False"


def test_any_source_of_kernels_decides_the_digest(tmp_path):
    for name in ("a.py", "b.c", "c.json"):
        (tmp_path / name).write_text("one")
        first = library.source_digest(tmp_path)
        (tmp_path / name).write_text("two")
        assert library.source_digest(tmp_path) != first


def test_types_are_written_as_they_are_read():
    signatures = Signatures.read()
    for name, version in not_empty(signatures.versions):
        assert str(parse(str(version))) == str(version), name
    for wrong in ("int", "uint7[:]", "mutable int64[:]", "(int64, what)"):
        with pytest.raises(ValueError, match="not a type"):
            parse(wrong)


def test_every_kernel_in_the_table_exists():
    from importlib import import_module

    for name in not_empty(Signatures.read().kernels):
        module, _, function = name.rpartition(".")
        assert callable(getattr(import_module(f"neardup.kernels.{module}"), function))


def test_arguments_are_described_by_kind_shape_and_whether_they_can_be_written():
    array = np.zeros((2, 3), np.uint64)
    fixed = np.zeros(3, np.uint8)
    fixed.flags.writeable = False
    given = (array, array[:, :2], fixed, 1, 2**63, np.uint8(1), 1.5, True, (1, array))
    assert str(types_of(given)) == (
        "(uint64[:,:], strided uint64[:,:], const uint8[:], int64, uint64, uint8, float64, bool, (int64, uint64[:,:]))"
    )


SAME = """
import sys
from odd_texts import TEXTS
import neardup as nd
from neardup.kernels import compilation
print(compilation.LEVEL, nd.fingerprint(TEXTS).tobytes().hex(), nd.match(TEXTS, min_similarity=0.2).similarity.tobytes().hex())
"""


@NATIVE
@pytest.mark.parametrize("level", library.LEVELS)
def test_every_level_gives_the_same_bits(level):
    here = {"PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *filter(None, sys.path)])}
    code, out, err = run(SAME, NEARDUP_KERNELS=level, **here)
    if code and ("this processor has" in err or "they are installed for" in err):
        pytest.skip(err.splitlines()[-1])
    assert (code, err) == (0, "")
    assert out.split()[0] == level
    assert out.split()[1:] == run(SAME, NEARDUP_KERNELS="interpreted", **here)[1].split()


@NATIVE
class TestCalls:
    data = np.arange(20, dtype=np.uint8)

    def test_integers_of_any_kind_in_range_are_taken(self):
        from neardup.kernels.xxh3 import xxh3_64

        expected = xxh3_64(self.data, 0, 20)
        assert expected == 2917394212576059053
        for zero, twenty in ((np.int64(0), np.uint8(20)), (np.uint64(0), np.int32(20))):
            assert xxh3_64(self.data, zero, twenty) == expected
        fixed = self.data.copy()
        fixed.flags.writeable = False
        assert xxh3_64(fixed, 0, 20) == expected

    @pytest.mark.parametrize(
        "arguments",
        [
            (),
            (data, 0),
            (data, 0, 20, 1),
            (data, 0, 20.0),
            (data, 0, 2**63),
            (data, -(2**63) - 1, 20),
            (data, 0, None),
            (data.astype(np.int8), 0, 20),
            (data.reshape(4, 5), 0, 20),
            (data[::2], 0, 10),
            (data.astype(np.uint16).view(">u2"), 0, 20),
            (list(data), 0, 20),
            (data.tobytes(), 0, 20),
            ((data,), 0, 20),
        ],
    )
    def test_others_are_refused_with_what_to_do(self, arguments):
        from neardup.kernels.xxh3 import xxh3_64

        with pytest.raises(TypeError, match=r"the kernel xxh3.xxh3_64 was not compiled for .*make kernels"):
            xxh3_64(*arguments)

    def test_an_array_that_is_written_must_be_writable(self):
        from neardup.kernels.digests import digest_documents

        digests = np.zeros((1, 2), np.uint64)
        offsets = np.array([0, 20])
        assert digest_documents(self.data, offsets, digests) is None
        assert digests.any()
        digests.flags.writeable = False
        with pytest.raises(TypeError, match="digest_documents was not compiled for"):
            digest_documents(self.data, offsets, digests)

    def test_a_kernel_that_only_others_call_is_refused(self):
        from neardup.kernels.text.normalization import encode

        with pytest.raises(
            TypeError, match=r"text.normalization.encode was not compiled for \"\(int64, uint8\[:\], int64\)\""
        ):
            encode(65, self.data, 0)

    def test_calls_keep_no_reference(self):
        from neardup.kernels.xxh3 import xxh3_64

        array = np.zeros(64, np.uint8)
        before = sys.getrefcount(array)
        for _ in range(100):
            xxh3_64(array, 0, 64)
            with pytest.raises(TypeError):
                xxh3_64(array, None, 64)
        assert sys.getrefcount(array) == before
