"""The environments of other pipelines, in `.venv/pipelines`: the releases that the integrations are tested with, or measured beside.

As a program (`make install-pipelines`) it installs all of them, some gigabytes; tests of what is missing are skipped.
"""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / ".venv" / "pipelines"
OURS = ("backports.zstd", "click", "msgspec", "numpy", "pyarrow")
PIPELINES = {
    "datatrove": ("datatrove==0.10.1", "orjson"),
    "data-juicer": (
        "py-data-juicer==1.6.1",
        "aiohttp",
        "datasets",
        "ray[data]",
    ),  # which it imports and does not ask for
    "nemo-curator": ("nemo-curator==1.4.0",),
    "mcp": ("mcp==2.3.0", "httptools", "prometheus-client", "starlette", "uvicorn", "uvloop"),
    "langchain": (
        "langchain-core==1.8.3",
        "langchain-classic==1.0.8",
        "greenlet",
    ),  # these have a record manager on disk
    "llama-index": ("llama-index-core==0.14.25",),
    "haystack": ("haystack-ai==3.4.1",),
    "daft": ("daft[ray]==0.7.26",),  # for benchmarks/cluster.py alone
}


def python(name):
    """The Python of an environment."""
    return FOLDER / name / "bin" / "python"


def missing(name):
    """Why a pipeline cannot be tested; None if it can."""
    return None if python(name).exists() else f"{name} is not installed: make install-pipelines installs it"


def main():
    for name, packages in PIPELINES.items():
        if missing(name):
            subprocess.run([sys.executable, "-m", "venv", FOLDER / name], check=True)
        subprocess.run([python(name), "-m", "pip", "install", "--quiet", *packages, *OURS], check=True)


if __name__ == "__main__":
    main()
