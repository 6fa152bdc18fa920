"""The contenders of `peer_contenders.py`, each as a whole process with a time limit, in turns."""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import measure
from commands import LAUNCHER
from contender import MEASURED, Found, Interpreters

NEEDS = {
    "datasketch": "datasketch",
    "rensa": "rensa",
    "SetSimilaritySearch": "SetSimilaritySearch",
    "semhash": "semhash",
    "text-dedup": "text_dedup.minhash",
    "datatrove": "datatrove.pipeline.dedup.minhash, spacy, jieba, orjson",
}


@dataclass(frozen=True)
class Contest:
    """How contenders run.

    Attributes:
        documents: JSON lines with `text`.
        language: "english" or "chinese": by it the peers' tokens are chosen.
        limit: seconds of a contender.
        rounds: runs of each.
        interpreters: those of the peers with an environment of their own.
    """

    documents: Path
    language: str
    limit: float
    rounds: int
    interpreters: Interpreters


def add_interpreters(parser: argparse.ArgumentParser) -> None:
    """The options that name interpreters of the peers with an environment of their own."""
    for peer in ("text-dedup", "datatrove"):
        parser.add_argument(
            f"--{peer}",
            default=sys.executable,
            metavar="PYTHON",
            help=f"an interpreter that has {peer}; this one if not given",
        )


def interpreters(given: argparse.Namespace) -> Interpreters:
    """Those options, as paths that hold in any folder."""
    return Interpreters(
        *(os.path.abspath(shutil.which(python) or python) for python in (given.text_dedup, given.datatrove))
    )


def versions(of: Interpreters) -> dict[str, str]:
    """The versions of the peers that have an environment of their own."""
    found = {}
    for package, python in (("text-dedup", of.text_dedup), ("datatrove", of.datatrove)):
        code = f"import importlib.metadata as m; print(m.version('{package}'))"
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            found[package] = done.stdout.strip()
    return found


def why_not(name: str, of: Interpreters) -> str | None:
    """Why that contender cannot run, or None: the last line of what its interpreter says of the import."""
    package = next((start for start in NEEDS if name.startswith(start)), None)
    if package is None:
        return None
    interpreter = {"text-dedup": of.text_dedup, "datatrove": of.datatrove}.get(package, sys.executable)
    done = subprocess.run([interpreter, "-c", f"import {NEEDS[package]}"], capture_output=True, text=True, check=False)
    return done.stderr.strip().splitlines()[-1] if done.returncode else None


def _run(name: str, contest: Contest, folder: Path) -> dict[str, Any]:
    """One run: what it took, or why there is nothing; what it found is in the folder."""
    script = Path(__file__).with_name("peer_contenders.py")
    options = ("--text-dedup", contest.interpreters.text_dedup, "--datatrove", contest.interpreters.datatrove)
    arguments = (name, contest.documents, folder / "found.npz", "--language", contest.language, *options)
    command = [sys.executable, "-S", "-c", LAUNCHER, sys.executable, script, *arguments]
    process = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=contest.limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"stopped": f"not done after {contest.limit:g} s"}
    code, seconds, processor_seconds, peak, printed = json.loads(output)
    if code:
        return {"failed": f"exit status {code}"}
    said: dict[str, Any] = json.loads(printed.strip().splitlines()[-1])
    if said.keys() & {"skipped", "failed"}:
        return said
    whole = (seconds, processor_seconds, peak * (1 if sys.platform == "darwin" else 1024))
    return dict(zip(MEASURED, whole, strict=True)) | said


def contend(names: Sequence[str], contest: Contest) -> dict[str, tuple[dict[str, Any], Found | None]]:
    """Run the contenders in turns. Returns what each took, or why there is nothing, and what it found in the last round."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    absent = {name: {"skipped": reason} for name in names if (reason := why_not(name, contest.interpreters))}
    found: dict[str, Found] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(contest.rounds):
            for name in names:
                if name in absent:
                    continue
                took = _run(name, contest, Path(folder))
                print(f"{name}: {json.dumps(took)}", flush=True)
                if "seconds" not in took:
                    absent[name] = took
                    continue
                runs[name].append(took)
                with np.load(Path(folder) / "found.npz") as arrays:
                    found[name] = dict(arrays)
    return {name: (absent[name], None) if name in absent else (_record_of(runs[name]), found[name]) for name in names}


def _record_of(runs: list[dict[str, Any]]) -> dict[str, Any]:
    seconds = [run["seconds"] for run in runs]
    record = {
        "seconds": measure.rounded(statistics.median(seconds)),
        "min": measure.rounded(min(seconds)),
        "max": measure.rounded(max(seconds)),
        "processor_seconds": measure.rounded(statistics.median(run["processor_seconds"] for run in runs)),
        "rounds": len(runs),
        "peak_memory_mb": round(max(run["peak_memory_bytes"] for run in runs) / 1e6),
    }
    return record | {"candidates": runs[-1]["candidates"]} if "candidates" in runs[-1] else record
