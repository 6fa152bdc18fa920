"""A real corpus of a million documents of 1 to 8 KB: what is text in large packages of PyPI, with planted near-copies.

The packages are downloaded by pip, as wheels, one after another, and read where they lie in the archive; nothing of them is run.
Their near-copies are real: generated clients, vendored code, versions of one interface, licenses, translations. The corpus is a
sample of no language's prose: mostly source text and its documentation.

- A file is read if its ending is one of ENDINGS and it is UTF-8 without a NUL. It is cut at line ends into pieces of 1,000 to
  8,000 bytes, of lengths drawn from a logarithmic distribution by the file's name and the piece's number, so that the same file
  in two packages is cut alike. A rest under 1,000 bytes and a piece with a line over 2,000 bytes (minified text, data) are left
  out. A piece's id is package/path#number.
- Order: by a hash, so packages are mixed. Shards hold as many documents each; the first 2, 4, 8 and 16 shards are the nested
  corpora of 125,000, 250,000, 500,000 and 1,000,000 documents.
- One document in a hundred is a planted near-copy of another one (`planted.py`) in the same step of that nesting, before or
  after it; `planted.jsonl` lists them.

Written to a folder outside the project: 3.6 GB, of which 3.4 are the documents. On the way it takes 6 GB, 1.1 of them the archives.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import measure
from neardup.matching.similarities.table import shingle_sets_of
from planted import Copy, near_copies

# Wheels, pinned.
# fmt: off
PACKAGES = [
    "ansible==12.3.0", "astropy==8.0.2", "aws-cdk-lib==2.275.0", "azure-cli==2.91.0", "azure-mgmt-compute==39.0.0",
    "azure-mgmt-network==33.1.0", "azure-mgmt-web==11.0.1", "boto3-stubs-full==1.43.119", "botocore==1.29.165",
    "ccxt==4.5.90", "cdktf-cdktf-provider-aws==21.22.1", "cdktf-cdktf-provider-azurerm==14.23.1",
    "cdktf-cdktf-provider-google==16.12.1", "datadog-api-client==2.62.0", "diffusers==0.42.1", "django==5.2.19",
    "faker==40.54.0", "google-ads==34.0.0", "google-api-python-client==2.202.0", "google-cloud-aiplatform==2.7.0",
    "google-cloud-compute==1.56.0", "google-cloud-dialogflow-cx==2.9.0", "homeassistant==2024.3.3",
    "kubernetes-asyncio==36.1.0", "kubernetes==37.0.2", "langchain-community==0.4.2", "msgraph-beta-sdk==1.66.0",
    "msgraph-sdk==1.65.0", "networkx==3.6.1", "oci==2.189.0", "pandas==3.1.1", "plotly==7.1.0",
    "pulumi-alicloud==4.0.0", "pulumi-aws==7.51.1", "pulumi-azure-native==3.29.0", "pulumi-azure==6.40.1",
    "pulumi-gcp==10.2.0", "pulumi-kubernetes==4.34.2", "pulumi-oci==5.5.0", "scikit-learn==1.9.1", "scipy==1.17.1",
    "spyder==6.1.8", "statsmodels==0.15.0", "sympy==1.14.0", "tencentcloud-sdk-python==3.1.195",
    "tensorflow-cpu==2.21.0", "transformers==5.23.0", "types-aiobotocore-full==3.10.0",
]
# fmt: on
TARGET = (
    *("--only-binary=:all:", "--python-version=3.11", "--implementation=cp"),
    *(f"--abi={abi}" for abi in ("cp311", "abi3", "none")),
    *(f"--platform={name}_x86_64" for name in ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")),
)
"""One kind of wheel, whatever this machine is."""
SOURCES = "c cc cpp cu cuh go h hpp inc java js ps1 pxd py pyi pyx rb sh sql td ts"
DOCUMENTATION = "css html md po rst txt"
DATA = "cfg csv ini j2 json proto tmpl toml xml yaml yml"
ENDINGS = frozenset(f".{ending}" for endings in (SOURCES, DOCUMENTATION, DATA) for ending in endings.split())
LEAST, MOST, LONGEST_LINE = 1000, 8000, 2000
SHARDS = 16
STEPS = (2, 4, 8, 16)
"""Shards of the nested corpora."""
SHARE = 0.01
"""Planted, of all documents."""
SEED = "neardup"
DOCUMENTS = 1_000_000
SAMPLE_BITS = 6
"""Document frequencies are counted for one shingle hash in 64."""
CLASSES = ((1, 1), (2, 2), (3, 10), (11, 100), (101, 1000), (1001, 10_000), (10_001, None))


def default_folder() -> Path:
    """Where the corpus lies if nothing else is said."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "neardup-benchmarks"


def shard_path(folder: Path, number: int) -> Path:
    return folder / f"package_texts-{number:02}.jsonl"


def missing(folder: Path) -> str | None:
    """Why the corpus cannot be read, or None if it can."""
    if not (folder / "package_texts.json").is_file():
        return f"no corpus of package texts in {folder}: run benchmarks/package_texts.py, or give its folder"
    return None


def first_documents(folder: Path, documents: int) -> Iterator[tuple[str, str]]:
    """The ids and texts of the first documents of the corpus."""
    for number in range(SHARDS):
        with shard_path(folder, number).open(encoding="utf-8") as lines:
            for line in lines:
                if documents == 0:
                    return
                document = json.loads(line)
                yield document["id"], document["text"]
                documents -= 1


def planted_copies(folder: Path, shards: int) -> list[Copy]:
    """The planted near-copies of which both ends lie in the first shards."""
    with (folder / "planted.jsonl").open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [
        Copy(record["origin"], record["rate"], record["origin_text"], record["text"])
        for record in records
        if record["shards"] <= shards
    ]


def _random(*names: object) -> random.Random:
    """The same numbers on every machine, for every name others."""
    return random.Random("/".join(map(str, (SEED, *names))))


def _hash(name: str | bytes) -> int:
    name = name.encode() if isinstance(name, str) else name
    return int.from_bytes(hashlib.blake2b(name, digest_size=8, key=SEED.encode()).digest(), "little")


def length_of(name: str, number: int) -> int:
    """Bytes at which that piece of a file of that name should end: from LEAST to MOST, evenly on a logarithmic scale."""
    return int(LEAST * (MOST / LEAST) ** (_hash(f"{name}#{number}") / 2**64))


def pieces(content: bytes, name: str) -> Iterator[tuple[int, bytes]]:
    """Numbered runs of whole lines of LEAST to MOST bytes; what has no line end where one is needed is left out."""
    start = number = 0
    while len(content) - start >= LEAST:
        wanted = start + length_of(name, number)
        end = len(content)
        if end > wanted:
            # The line end after the wanted length, else the one before it.
            end = content.find(b"\n", wanted - 1, start + MOST) + 1
            end = end or content.rfind(b"\n", start + LEAST - 1, wanted) + 1
        if end:
            yield number, content[start:end]
        else:
            end = content.find(b"\n", start + MOST) + 1 or len(content)
        start, number = end, number + 1


def download(package: str, folder: Path) -> Path:
    """The wheel of NAME==VERSION, from the folder or by pip."""
    name, version = package.split("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    if not list(folder.glob(pattern)):
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            *TARGET,
            "--dest",
            str(folder),
            package,
        ]
        subprocess.run(command, check=True)
    [wheel] = folder.glob(pattern)
    return wheel


Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Reading:
    """What was read and what was left out, counted."""

    documents: Counter[str]
    left_out: Counter[str]

    def documents_of(self, wheel: Path, package: str) -> Iterator[tuple[str, str]]:
        """Ids and texts of a wheel's pieces."""
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                path = Path(entry.filename)
                if path.suffix not in ENDINGS or entry.file_size < LEAST:
                    continue
                content = archive.read(entry)
                if b"\0" in content or not _is_utf8(content):
                    self.left_out["files that are not UTF-8"] += 1
                    continue
                for number, piece in pieces(content, path.name):
                    if max(map(len, piece.split(b"\n"))) > LONGEST_LINE:
                        self.left_out[f"pieces with a line over {LONGEST_LINE} bytes"] += 1
                        continue
                    self.documents[package] += 1
                    yield f"{package}/{entry.filename}#{number}", piece.decode()


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _line(name: str, text: str) -> bytes:
    return json.dumps({"id": name, "text": text}, ensure_ascii=False).encode() + b"\n"


def deal(folder: Path, packages: list[str], reading: Reading) -> None:
    """Read the packages, and deal their documents to the shards by the hash of the id, unsorted."""
    archives = folder / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    files = [shard_path(folder, number).with_suffix(".part").open("wb", 1 << 20) for number in range(SHARDS)]
    for package in packages:
        wheel = download(package, archives)
        for name, text in reading.documents_of(wheel, package.split("==")[0]):
            try:
                line = _line(name, text)
            except UnicodeEncodeError:
                reading.left_out["pieces with a name that is not UTF-8"] += 1
                continue
            files[_hash(name) % SHARDS].write(line)
        print(f"{package}: {reading.documents[package.split('==')[0]]:,} documents", file=sys.stderr)
    for file in files:
        file.close()


def _in_order(folder: Path, number: int, documents: int) -> list[bytes]:
    """The lines of a shard that are kept, by the hash of the line."""
    lines = shard_path(folder, number).with_suffix(".part").read_bytes().splitlines(keepends=True)
    if len(lines) < documents:
        raise SystemExit(
            f"Shard {number} has {len(lines):,} documents of {documents:,}: the packages hold too few for --documents."
        )
    return sorted(lines, key=_hash)[:documents]


def write_shards(folder: Path, documents: int) -> list[tuple[Copy, int]]:
    """Sort every shard, plant the near-copies, and write. Returns the copies with the number of shards that hold both ends."""
    each = documents // SHARDS
    copies_each = round(SHARE * each)
    planted: list[tuple[Copy, int]] = []
    for began, ended in zip((0, *STEPS), STEPS, strict=False):
        copies: list[Copy] = []
        for number in range(began, ended):
            texts = [
                (document["id"], document["text"])
                for document in map(json.loads, _in_order(folder, number, each - copies_each))
            ]
            copies += near_copies(texts, copies_each / len(texts), _random("copies", number))
        _random("places", began).shuffle(copies)
        for number in range(began, ended):
            lines = _in_order(folder, number, each - copies_each)
            place = _random("place", number)
            mine = copies[(number - began) * copies_each : (number - began + 1) * copies_each]
            lines += [_line(copy.id, copy.text) for copy in mine]
            place.shuffle(lines)
            with shard_path(folder, number).open("wb") as file:
                file.writelines(lines)
            shard_path(folder, number).with_suffix(".part").unlink()
            print(f"shard {number}: {len(lines):,} documents", file=sys.stderr)
        planted += [(copy, ended) for copy in copies]
    with (folder / "planted.jsonl").open("w", encoding="utf-8") as file:
        for copy, shards in planted:
            record = {"id": copy.id, "origin": copy.origin, "rate": copy.rate, "shards": shards}
            texts_of = {"origin_text": copy.origin_text, "text": copy.text}
            file.write(json.dumps(record | texts_of, ensure_ascii=False) + "\n")
    return planted


def _frequencies(samples: Array) -> dict[str, Any]:
    """How many documents the sampled shingles occur in: shares of distinct shingles and of postings."""
    _, counts = np.unique(samples, return_counts=True)
    rows = {}
    for least, most in CLASSES:
        chosen = (counts >= least) & (counts <= (most or counts.max()))
        label = f"{least:,}" if least == most else f"{least:,} to {most:,}" if most else f"{least:,} and more"
        rows[label] = {
            "distinct": measure.rounded(float(chosen.sum() / len(counts))),
            "postings": measure.rounded(float(counts[chosen].sum() / len(samples))),
        }
    return {
        "postings": len(samples) << SAMPLE_BITS,
        "distinct": len(counts) << SAMPLE_BITS,
        "greatest": int(counts.max()),
        "documents of a shingle": rows,
    }


def _quantiles(values: Array) -> dict[str, int]:
    marks = (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1)
    return {f"{mark:g}": int(value) for mark, value in zip(marks, np.quantile(values, marks), strict=True)}


def facts_of(folder: Path, documents: int) -> dict[str, Any]:
    """What the corpora of every step are: bytes, lengths, sizes of shingle sets, and the document frequencies of shingles."""
    lengths, sizes, samples, digest = [], [], [], hashlib.sha256()
    facts = {}
    for number in range(SHARDS):
        content = shard_path(folder, number).read_bytes()
        digest.update(content)
        lines = content.splitlines()
        del content
        for first in range(0, len(lines), 2000):
            texts = [json.loads(line)["text"] for line in lines[first : first + 2000]]
            values, offsets = shingle_sets_of(pa.array(texts, pa.large_string()))
            lengths += [len(text.encode()) for text in texts]
            sizes.append(np.diff(offsets))
            samples.append(values[values & np.uint64((1 << SAMPLE_BITS) - 1) == 0])
        if number + 1 in STEPS:
            facts[f"{documents // SHARDS * (number + 1):,} documents"] = {
                "shards": number + 1,
                "text_bytes": sum(lengths),
                "sha256": digest.hexdigest()[:16],
                "bytes of a document": _quantiles(np.array(lengths)),
                "shingles of a document": _quantiles(np.concatenate(sizes)),
                "shingles": _frequencies(np.concatenate(samples)),
            }
    return facts


def similarities_of(copies: list[Copy]) -> Array:
    """The similarity of every copy to its origin: float64[copies]."""
    left, right = (
        shingle_sets_of(pa.array(texts, pa.large_string()))
        for texts in ([copy.origin_text for copy in copies], [copy.text for copy in copies])
    )
    out = np.empty(len(copies))
    for row in range(len(copies)):
        a, b = (values[offsets[row] : offsets[row + 1]] for values, offsets in (left, right))
        common = len(np.intersect1d(a, b, assume_unique=True))
        out[row] = common / max(1, len(a) + len(b) - common)
    return out


def _similarities_by_rate(copies: list[Copy]) -> dict[str, Any]:
    similar = similarities_of(copies)
    rates = np.array([copy.rate for copy in copies])
    return {
        f"{rate:g}": {
            "copies": int((rates == rate).sum()),
            "at 0.8 and more": int((similar[rates == rate] >= 0.8).sum()),
            "similarity": [measure.rounded(x) for x in np.quantile(similar[rates == rate], (0.05, 0.5, 0.95)).tolist()],
        }
        for rate in sorted(set(rates.tolist()))
    }


def main() -> None:
    """Build the corpus and write what it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=default_folder(), help="default: %(default)s")
    parser.add_argument(
        "--documents", type=int, default=DOCUMENTS, help=f"a multiple of {100 * SHARDS} (default: %(default)s)"
    )
    parser.add_argument("--packages", type=int, metavar="N", help="read the first N packages only")
    parser.add_argument("--keep-archives", action="store_true", help="leave the wheels in FOLDER/archives")
    parser.add_argument("--if-missing", action="store_true", help="do nothing if the folder has a corpus")
    given = parser.parse_args()
    if given.if_missing and missing(given.folder) is None:
        return
    if given.documents % (100 * SHARDS) or given.documents <= 0:
        parser.error(f"--documents {given.documents}: give a positive multiple of {100 * SHARDS}.")
    folder = given.folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package_texts.json").unlink(missing_ok=True)
    reading = Reading(Counter(), Counter())
    deal(folder, PACKAGES[: given.packages], reading)
    planted = write_shards(folder, given.documents)
    if not given.keep_archives:
        for wheel in (folder / "archives").glob("*.whl"):
            wheel.unlink()
        (folder / "archives").rmdir()
    record = {
        "documents": given.documents,
        "shards": [shard_path(folder, number).name for number in range(SHARDS)],
        "cut from the packages": reading.documents.total(),
        "of each package": dict(reading.documents.most_common()),
        "left out": dict(reading.left_out),
        "packages": PACKAGES[: given.packages],
        "planted near-copies by rate of edits": _similarities_by_rate([copy for copy, _ in planted]),
        "corpora": facts_of(folder, given.documents),
    }
    measure.write_json(folder / "package_texts.json", record)
    print(json.dumps(record["corpora"], indent=1))


if __name__ == "__main__":
    main()
