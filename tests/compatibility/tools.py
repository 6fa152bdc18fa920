"""The releases that are compared with, what they need, and their environments in `.venv/tools`.

As a program (`make install-tools`) it installs all of them; the tests install what is missing.
"""

import json
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv" / "tools"
PROGRAMS = Path(__file__).with_name("programs")


@dataclass(frozen=True)
class Tool:
    """A tool of which several releases are compared.

    Attributes:
        package: its name on PyPI.
        releases: the versions, each installed by itself, without what it depends on.
        needs: what the compared modules import, by version; not all that the package asks for.
    """

    package: str
    releases: tuple[str, ...]
    needs: tuple[str, ...]


TOOLS = {
    "simhash": Tool("simhash", ("1.11.0", "2.0.0", "2.1.2"), ("numpy==2.4.6",)),
    "datasketch": Tool(
        "datasketch", ("1.2.10", "1.5.9", "1.6.5", "1.10.0", "2.0.0"), ("numpy==2.4.6", "scipy==1.17.1")
    ),
    "text-dedup": Tool(  # not Spark and models
        "text-dedup",
        ("0.3.0", "0.3.1", "0.4.0"),
        (
            "bitarray==3.12.3",
            "click==8.5.1",
            "click-option-group==0.5.9",
            "datasets==5.2.0",
            "ftfy==6.3.1",
            "networkit==11.3",
            "regex==2026.11.15",
            "rich==15.0.0",
            "scipy==1.17.1",
            "tqdm==4.70.1",
            "xxhash==4.1.0",
        ),
    ),
    "data-juicer": Tool(  # its SimHash operator alone: the base of all operators imports models and Ray
        "py-data-juicer",
        ("0.1.0", "1.2.0", "1.3.0", "1.3.1", "1.6.1"),
        (
            "emoji==2.16.0",
            "jsonargparse==4.53.0",
            "loguru==0.7.3",
            "numpy==2.4.6",
            "pydantic==2.14.3",
            "regex==2026.11.15",
            "simhash-pybind==0.0.3",
            "tomli==2.5.0",
            "zstandard==0.25.0",
        ),
    ),
}


NODEJIEBA = "nodejieba@3.5.8"
"""The npm package with the source of cppjieba 5.4.0."""


class NotInstalledError(Exception):
    """A tool cannot be installed here; the message is the last of pip."""


def install(name: str) -> Path:
    """Install a tool unless that is done, and return its environment.

    The environment has the Python that runs this, because most of these tools take letters and lowercase from Python's tables.

    Raises:
        NotInstalledError: pip failed, offline or for want of a version.
    """
    tool, folder = TOOLS[name], FOLDER / name
    done, state = folder / "installed", f"{sys.version}\n{tool}\n"
    if done.is_file() and done.read_text(encoding="utf-8") == state:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    _run([sys.executable, "-m", "venv", folder])
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--retries", "2"]
    if tool.needs:
        _run([*pip, *tool.needs])
    for release in tool.releases:
        _run([*pip, "--no-deps", "--target", _release(folder, release), f"{tool.package}=={release}"])
    done.write_text(state, encoding="utf-8")
    return folder


def _release(folder: Path, release: str) -> Path:
    return folder / "releases" / release


def _run(command: list[object]) -> None:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [done.stderr.strip()]
        raise NotInstalledError(errors[-1])


@dataclass(frozen=True)
class Cppjieba:
    """cppjieba, compiled: the program of `programs/cppjieba_answers.cpp`, and the folder of cppjieba's files."""

    program: Path
    files: Path


def compile_cppjieba() -> Cppjieba:
    """Compile the source of cppjieba, which the npm package nodejieba carries, unless that is done.

    Raises:
        NotInstalledError: npm or g++ is missing, or npm is offline.
    """
    folder, source = FOLDER / "cppjieba", PROGRAMS / "cppjieba_answers.cpp"
    found = Cppjieba(folder / "cppjieba_answers", folder / "package" / "submodules" / "cppjieba" / "dict")
    done, state = folder / "installed", f"{NODEJIEBA}\n{source.read_text(encoding='utf-8')}"
    if done.is_file() and done.read_text(encoding="utf-8") == state:
        return found
    for each in ("npm", "g++"):
        if shutil.which(each) is None:
            raise NotInstalledError(f"{each} is not installed")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _run(["npm", "pack", "--silent", "--pack-destination", folder, NODEJIEBA])
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        archive.extractall(folder, filter="data")
    headers = [found.files.parent / "include", found.files.parent / "deps" / "limonp" / "include"]
    _run(["g++", "-O2", "-std=c++17", *(f"-I{each}" for each in headers), source, "-o", found.program])
    done.write_text(state, encoding="utf-8")
    return found


POEMS = "chinese-poetry@2.0.1"
"""The npm package with poems of all ages; 85 MB."""


def poems() -> list[str]:
    """Poems of Tang and Song, each once, in the order of their files; downloaded unless that is done.

    Raises:
        NotInstalledError: npm is missing or offline.
    """
    folder = FOLDER / "poems"
    if not any(folder.glob("*.tgz")):
        if shutil.which("npm") is None:
            raise NotInstalledError("npm is not installed")
        folder.mkdir(parents=True, exist_ok=True)
        _run(["npm", "pack", "--silent", "--pack-destination", folder, POEMS])
    found: dict[str, None] = {}
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        for member in archive:
            file = archive.extractfile(member) if "/quantangshi/poet." in member.name else None
            if file is not None:
                found |= dict.fromkeys("\n".join(poem["paragraphs"]) for poem in json.load(file))
    return [poem for poem in found if poem]


def ask(name: str, release: str, **question: object) -> dict:
    """What the tool's program answers, run by the tool's Python with this release in front."""
    folder = install(name)
    program = PROGRAMS / f"{name.replace('-', '_')}_answers.py"
    done = subprocess.run(
        [str(folder / "bin" / "python"), "-W", "ignore", str(program)],
        input=json.dumps({"releases": str(_release(folder, release)), **question}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    for each in TOOLS:
        print(install(each))
    print(compile_cppjieba().program)
    print(len(poems()))
