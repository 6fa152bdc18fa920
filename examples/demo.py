"""make demo: de-duplicate notes in three languages, then the texts of this Python installation; show three duplicates of each."""

import subprocess
import sys
from pathlib import Path

from neardup.cli.commands.demo import show_examples

HERE = Path(__file__).parent
SHOWN = 3


def run(*arguments: str) -> None:
    print("$", "neardup", *arguments, flush=True)
    subprocess.run([Path(sys.executable).with_name("neardup"), *arguments], check=True)


def show(corpus: Path, audit: Path) -> None:
    """Some near-duplicates of the audit, each with the place where the two texts first differ."""
    print()
    show_examples(corpus, audit, SHOWN)


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    notes, installed = HERE / "notes.jsonl", folder / "installed.jsonl"
    for corpus, name in ((notes, "notes"), (installed, "installed")):
        print()
        if corpus == installed:
            subprocess.run([sys.executable, HERE / "gather_installed_texts.py", installed, "60"], check=True)
        run("dedup", str(corpus), "-o", str(folder / f"{name}.survivors.jsonl"), "--overwrite")
        show(corpus, folder / f"{name}.survivors.duplicates.jsonl")
    print(
        f"\nLook into {folder}/: survivors, the audit of every removal (.duplicates.jsonl) and the summary (.summary.json)."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
