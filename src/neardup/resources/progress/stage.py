"""The state of one stage of a run, and how it is told."""

from dataclasses import dataclass

from neardup.display import cut, duration, size_text

BAR_CHARACTERS = 20
"""Characters of a bar between its brackets."""


@dataclass(slots=True)
class Stage:
    """The state of a stage.

    Attributes:
        name: the name of the stage.
        total: the number of documents to process; None if unknown.
        began: the time when the stage began, by the clock of the progress.
        documents: the number of documents that are done.
        read_bytes: bytes of the input files that were read.
        total_bytes: bytes of the input files in all; 0 if the stage reads no file.
    """

    name: str
    total: int | None
    began: float
    documents: int = 0
    read_bytes: int = 0
    total_bytes: int = 0

    @property
    def share(self) -> float | None:
        """The fraction that is done, from 0 to 1; of the documents, or of the bytes if the number of documents is unknown."""
        done, of = (self.documents, self.total) if self.total else (self.read_bytes, self.total_bytes)
        return min(1.0, done / of) if of else None

    def seconds_left(self, now: float) -> float | None:
        """The remaining seconds at the rate so far; None while unknown."""
        return (now - self.began) * (1 / self.share - 1) if self.share else None

    def rates(self, now: float) -> str:
        """Format the rates as `1,234 documents/s, 5.6 MiB/s of the files`; empty if nothing is counted or no time has passed."""
        seconds = now - self.began
        if seconds <= 0:
            return ""
        found = [f"{self.documents / seconds:,.0f} documents/s"] if self.documents else []
        found += [f"{size_text(self.read_bytes / seconds)}/s of the files"] if self.read_bytes else []
        return ", ".join(found)


def told(stage: Stage, now: float) -> str:
    """Describe the state of a stage: `45 %, about 40 s left, 12,345 documents, 1,234 documents/s, 5.6 MiB/s of the files`."""
    left = stage.seconds_left(now)
    parts = [
        "" if stage.share is None else f"{stage.share:.0%}".replace("%", " %"),
        "" if left is None else f"about {duration(left)} left",
        f"{stage.documents:,} documents" if stage.documents else "",
        stage.rates(now),
    ]
    return ", ".join(part for part in parts if part)


def moving_line(stage: Stage, now: float, columns: int) -> str:
    """The state of a stage in one line of at most so many columns; what matters least is left out first.

    `fingerprint   49 %  [=========>          ]  about 40 s left  780 documents  1,251/s`
    """
    seconds, share, left = now - stage.began, stage.share, stage.seconds_left(now)
    parts = {"name": stage.name, "state": f"{100 * share:3.0f} %" if share else duration(seconds)}
    if share:
        done = int(share * BAR_CHARACTERS)
        parts["bar"] = f"[{('=' * done + '>' * (done < BAR_CHARACTERS)).ljust(BAR_CHARACTERS)}]"
    if left is not None:
        parts["left"] = f"about {duration(left)} left"
    if stage.documents:
        parts["documents"] = f"{stage.documents:,} documents"
        parts["rate"] = f"{stage.documents / seconds:,.0f}/s" if seconds > 0 else ""
    for least in ("", "rate", "documents", "bar", "left"):
        parts.pop(least, None)
        line = "  ".join(filter(None, parts.values()))
        if len(line) <= columns:
            return line
    return cut(line, columns)
