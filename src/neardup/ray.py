"""De-duplicate Datasets of Ray, with the answer of `neardup dedup`. Needs the extra `neardup[ray]`.

`ray job submit -- python -m neardup.ray …` is a command: `cli/engines/on_ray.py`.
"""

from neardup.engines.ray.functions import (
    RayPassages,
    RayResult,
    clusters,
    deduplicate,
    filter_new,
    fingerprint,
    pairs,
    passages,
    plan,
)

__all__ = [
    "RayPassages",
    "RayResult",
    "clusters",
    "deduplicate",
    "filter_new",
    "fingerprint",
    "pairs",
    "passages",
    "plan",
]

if __name__ == "__main__":
    from neardup.cli.engines.on_ray import main

    main()
