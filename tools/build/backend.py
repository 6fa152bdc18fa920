"""The build backend: hatchling, which needs Numba for wheels with compiled kernels and for nothing else."""

from typing import Any

from hatchling.build import *  # noqa: F403 - the functions that build front ends call
from hatchling.build import get_requires_for_build_wheel as requires_of_hatchling

COMPILERS = ["numba==0.68.*", "numpy>=2.0"]
"""Emitting machine code uses Numba's inner interfaces, which may differ in other versions."""


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What building a wheel needs besides hatchling."""
    from hatch_build import WITH_KERNELS

    return [*requires_of_hatchling(config_settings), *(COMPILERS if WITH_KERNELS else [])]
