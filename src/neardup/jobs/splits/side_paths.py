"""The files of a split: a file for each side, or a folder if there are several inputs; beside them the summary and the rejects."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from neardup.errors import InputError
from neardup.io.corpora.shard import Shard
from neardup.io.endings import SPLIT_SUMMARY, split_ending
from neardup.io.formats.table import FILES
from neardup.io.outputs.output_names import output_folder, output_names
from neardup.io.storage.places import Place, is_url, place_of, real_name
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.jobs.removal.request import Request

REJECTS = "split.rejects.jsonl"


def is_split(output: str) -> bool:
    """Whether an output is the folder of a split."""
    return output != "-" and (place_of(output) / SPLIT_SUMMARY).is_file()


def split_folder(output: str) -> str:
    """The folder of a split, with a slash at its end.

    Raises:
        InputError: a file is named, or standard output.
    """
    if output == "-" or (split_ending(place_of(output).name) is not None and output_folder(output) is None):
        raise InputError(
            f"`output={output!r}`: a split has a file for each side. Give a folder, such as {_stem(output)}/."
        )
    ends = ("/",) if is_url(output) else ("/", os.sep)
    return output if output.endswith(ends) else f"{output}/"


def _stem(output: str) -> str:
    known = split_ending(PurePath(output).name)
    return "splits" if known is None else str(PurePath(output).with_name(known[0]))


def name_of_side(side: str, shards: Sequence[Shard]) -> str:
    """The name of a side in the folder: `train.jsonl` for one input; `train/` for several, and for texts in files of their own."""
    if len(shards) != 1 or shards[0].format in FILES:
        return f"{side}/"
    name = PurePath(shards[0].relative).name
    known = split_ending(name)
    ending = PurePath(name).suffix if known is None else name[len(known[0]) :]
    return f"{side}{ending}"


@dataclass(frozen=True, kw_only=True)
class SplitRequest(Request):
    """The arguments of a split; see `Request`.

    Attributes:
        sides: the names of what has files: the sides, and conflicts if there may be some.
    """

    sides: tuple[str, ...]

    def side_paths(self, shards: Sequence[Shard]) -> list[list[Place]]:
        """For each side, the output of each shard."""
        assert self.output is not None
        found = []
        for side in self.sides:
            name = name_of_side(side, shards)
            if name.endswith("/"):
                found.append(output_names(f"{self.output}{name}", shards))
            else:
                found.append([place_of(self.output) / name])
        return found

    def output_paths(self, shards: Sequence[Shard]) -> OutputPaths:
        """All files; see `Request`."""
        if not self.output:
            return OutputPaths()
        folder, paths = place_of(self.output), self.side_paths(shards)
        inside = real_name(folder) + "/"
        if len(shards) > 1 and (within := [each for each in shards if real_name(each.path).startswith(inside)]):
            raise InputError(f"{within[0].name} lies in the output folder {self.output}. Name another folder.")
        every = OutputPaths(
            tuple(path for of_side in paths for path in of_side),
            summary=folder / SPLIT_SUMMARY,
            rejects=folder / REJECTS if self.on_error == "skip" else None,
        )
        return OutputPaths() if self.dry_run else every

    def files(self, paths: OutputPaths) -> dict[str, Any]:
        """The entries about files in the summary."""
        found = super().files(paths)
        del found["audit"]
        return found
