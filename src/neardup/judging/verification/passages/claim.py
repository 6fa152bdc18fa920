"""What a run that cut passages states about itself, read from its summary."""

from dataclasses import dataclass
from typing import Any

from neardup.io.corpora.reading import Reading, stored_reading
from neardup.io.storage.places import Place
from neardup.recipe.presets import RecipeLike
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import recipe_of_run
from neardup.survivors.repeats.options import PassageOptions
from neardup.survivors.repeats.records.cut_log_reader import options_of, read_cut_summary


@dataclass(frozen=True, kw_only=True)
class PassagesClaim:
    """What a run states.

    Attributes:
        options, recipe, reading: how the run was done.
        inputs, against: the inputs and the reference, as they were named.
        folder: the folder in which they were named.
        counts: the summary.
        shards: None, as for every run that is not in stages.
    """

    options: PassageOptions
    recipe: Recipe
    reading: Reading
    inputs: tuple[str, ...]
    against: tuple[str, ...]
    folder: str
    counts: dict[str, Any]
    shards: None = None


def read_passages_claim(log: Place, given: RecipeLike | None, **resources: Any) -> PassagesClaim:
    """Read the summary beside a log of cuts; `resources`: threads, memory, temp_dir and temp_limit of the verification.

    Raises:
        InputError: there is none.
        OptionError: an option of the run was a function.
        DataError: the file is no such summary.
        RecipeMismatch: this version makes other tokens by the recipe, or the given recipe is another.
    """
    summary = read_cut_summary(log)
    files = summary["files"]
    return PassagesClaim(
        options=options_of(summary, **resources),
        recipe=recipe_of_run(summary["recipe"], given, str(log)),
        reading=stored_reading(files),
        inputs=tuple(files["inputs"]),
        against=tuple(files["against"]),
        folder=files["folder"],
        counts=summary,
    )
