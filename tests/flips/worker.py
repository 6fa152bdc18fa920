"""WORKER: flip as standard input asks, and say what came of each on standard output; JSON lines both."""

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from flips.form import Form
from flips.inputs import INPUTS
from flips.judgment import HUNG, judge
from flips.products import PRODUCTS
from flips.stores import STORES
from restored import restore

FORMS: dict[str, Form] = {form.name: form for form in [*INPUTS, *PRODUCTS, *STORES]}
PATIENCE_SECONDS = 30
MEMORY = 8 << 30
ENDS = 250
"""Every second flip is in so many bytes at the beginning or at the end, where formats have what leads to the rest."""


class HungError(BaseException):
    """The time is over."""


class Prepared:
    """The files of a form, and what is read of them as they are."""

    def __init__(self, form: Form, folder: Path) -> None:
        self.form, self.whole, self.here = form, folder / "whole", folder / "here"
        self.here.mkdir(parents=True)
        with contextlib.chdir(self.here):  # where it stays: runs that go on know their files by path and time
            form.make()
            self.targets = form.targets()
        shutil.copytree(self.here, self.whole)
        with self.fresh():
            self.expected = form.use()

    @contextlib.contextmanager
    def fresh(self) -> Any:
        """In a folder with the files as they were written."""
        restore(self.here, self.whole)
        with contextlib.chdir(self.here):
            yield

    def flip(self, seed: int, number: int) -> dict[str, Any]:
        """Change a byte by chance, always the same one, and judge what comes of it."""
        rng = random.Random(f"{seed}/{self.form.name}/{number}")
        target = rng.choice(self.targets)
        with self.fresh():
            content = bytearray(Path(target).read_bytes())
            size = len(content)
            ends = rng.choice([rng.randrange(min(ENDS, size)), size - 1 - rng.randrange(min(ENDS, size))])
            place = rng.randrange(size) if rng.random() < 0.5 else ends
            before = content[place]
            content[place] ^= 1 << rng.randrange(8) if rng.random() < 0.8 else rng.randrange(1, 256)
            Path(target).write_bytes(content)
            signal.alarm(PATIENCE_SECONDS)
            try:
                outcome, said = judge(self.form, target, self.expected)
            except HungError:
                outcome, said = HUNG, ""
            finally:
                signal.alarm(0)
        return {"outcome": outcome, "target": target, "place": place, "byte": [before, content[place]], "said": said}


def _end(*_: Any) -> None:
    raise HungError


def main() -> None:
    """Until standard input ends."""
    signal.signal(signal.SIGALRM, _end)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    prepared: dict[str, Prepared] = {}
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    with tempfile.TemporaryDirectory(prefix="neardup-flips-") as folder:
        for line in sys.stdin:
            seed, name, number = json.loads(line)
            if name not in prepared:
                prepared[name] = Prepared(FORMS[name], Path(folder) / str(len(prepared)))
            answers.write(json.dumps({"form": name, "number": number} | prepared[name].flip(seed, number)) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
