"""INFO: what a store is, and what it takes."""

from dataclasses import dataclass
from pathlib import Path

from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import SimilarityLike
from neardup.store.files import Files
from neardup.store.opening import Policy


@dataclass(frozen=True, kw_only=True)
class StoreInfo:
    """What `Store.info` tells.

    Attributes:
        path: the folder.
        documents: how many are kept.
        removed_texts: how many distinct texts that were not kept are remembered; of documents that are gone since, until `compact`.
        gone: documents that were removed, whose room `compact` gives up.
        method, similarity, min_similarity, max_distance, floor, policy: the rules.
        recipe: how fingerprints are made.
        bytes: what each kind of file takes.
    """

    path: Path
    documents: int
    removed_texts: int
    gone: int
    method: str
    similarity: SimilarityLike
    min_similarity: float
    max_distance: int | None
    floor: float | None
    policy: Policy
    recipe: Recipe
    bytes: dict[str, int]


def info_of(files: Files) -> StoreInfo:
    """See `Store.info`."""
    sizes: dict[str, int] = {}
    for path in sorted(files.path.rglob("*")):
        if path.is_file():
            kind = path.relative_to(files.path).parts[0]
            name = "record" if kind.startswith("record") else kind.split("-")[0]
            sizes[name] = sizes.get(name, 0) + path.stat().st_blocks * 512
    options = files.rules.options
    return StoreInfo(
        path=files.path,
        documents=len(files.contents) - files.gone.count,
        removed_texts=files.record.counts()[1],
        gone=files.gone.count,
        method=options.method,
        similarity=options.similarity,
        min_similarity=options.min_similarity,
        max_distance=files.candidates.max_distance,
        floor=files.rules.floor,
        policy=files.rules.policy,
        recipe=files.recipe,
        bytes=sizes,
    )
