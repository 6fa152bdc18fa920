"""Gather a real corpus that every machine has: the sources and license files of the Python installation and its packages.

    python examples/gather_installed_texts.py OUT.jsonl [MEGABYTES]

One JSON line a file, id = its path below the library folder. License texts, vendored packages and generated code are near-copies
that nobody planted.
"""

import json
import sys
import sysconfig
from pathlib import Path

ENDINGS = {".py", ".pyi", ".txt", ".md", ".rst", ".h", ".html", ".css", ".js", ".toml"}
LICENCES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS")
LARGEST_FILE = 1_000_000


def gather(out: Path, limit: int) -> tuple[int, int]:
    """Write up to about `limit` bytes of text to `out`. Returns documents and bytes."""
    folders = {name: Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")}
    seen: set[Path] = set()
    documents = total = 0
    with out.open("w", encoding="utf-8") as lines:
        for folder in dict.fromkeys(folders.values()):
            for path in sorted(folder.rglob("*")):
                if path in seen or not (path.suffix in ENDINGS or path.name.upper().startswith(LICENCES)):
                    continue
                seen.add(path)
                if not path.is_file() or path.stat().st_size > LARGEST_FILE:
                    continue
                try:
                    text = path.read_text(encoding="utf-8")
                except (UnicodeDecodeError, OSError):
                    continue
                name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
                lines.write(json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n")
                documents += 1
                total += len(text.encode())
                if total > limit:
                    return documents, total
    return documents, total


if __name__ == "__main__":
    megabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 200
    count, size = gather(Path(sys.argv[1]), int(megabytes * 1e6))
    print(f"{sys.argv[1]}: {count:,} files, {size / 1e6:.0f} MB of text")
