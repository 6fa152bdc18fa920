"""make demo: de-duplicate the texts of this Python installation, and the notes in three languages; show three duplicates."""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SHOWN = 3


def run(*arguments: str) -> None:
    print("$", "neardup", *arguments, flush=True)
    subprocess.run([Path(sys.executable).with_name("neardup"), *arguments], check=True)


def show(corpus: Path, audit: Path) -> None:
    """Some near-duplicates of the audit, each with the place where the two texts first differ."""
    lines = [json.loads(line) for line in audit.open(encoding="utf-8")]
    near = sorted((line for line in lines if not line["exact"]), key=lambda line: abs(line["similarity"] - 0.9))[:SHOWN]
    texts = [json.loads(line)["text"] for line in corpus.open(encoding="utf-8")]
    for line in near:
        print(f"\n  {line['id']}  is a duplicate of  {line['survivor_id']}  (similarity {line['similarity']:.3f})")
        mine, other = (" ".join(texts[row].split()) for row in (line["row"], line["survivor_row"]))
        same = next(
            (i for i, (a, b) in enumerate(zip(mine, other, strict=False)) if a != b), min(len(mine), len(other))
        )
        for text in (mine, other):
            print("    …" + text[max(0, same - 40) : same + 60])


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    notes, installed = HERE / "notes.jsonl", folder / "installed.jsonl"
    subprocess.run([sys.executable, HERE / "gather_installed_texts.py", installed, "60"], check=True)
    for corpus, name in ((installed, "installed"), (notes, "notes")):
        print()
        run("dedup", str(corpus), "-o", str(folder / f"{name}.survivors.jsonl"), "--overwrite")
        show(corpus, folder / f"{name}.survivors.duplicates.jsonl")
    print(
        f"\nLook into {folder}/: survivors, the audit of every removal (.duplicates.jsonl) and the summary (.summary.json)."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
