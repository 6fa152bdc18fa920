"""Builds wheels: on Linux with kernels compiled for every level of its machine, or without: Numba then compiles them.

The environment variable `NEARDUP_BUILD_KERNELS` chooses: `no` makes the latter anywhere, `aarch64` or `x86_64` a
wheel for that machine, by a cross compiler where it is another. An editable installation has none: `make kernels`
compiles them in place.
"""

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LEVELS = {"x86_64": "v2,v3,v4", "aarch64": "a64"}
TAG = "cp311-abi3-manylinux_2_17_{machine}"
"""Of the C library they use functions alone that it has always had: on x86-64 since 2.2.5, on aarch64 since 2.17."""

ASKED = os.environ.get("NEARDUP_BUILD_KERNELS", "")
MACHINE = ASKED or platform.machine()
WITH_KERNELS = sys.platform == "linux" and MACHINE in LEVELS and platform.libc_ver()[0] == "glibc"


class KernelsHook(BuildHookInterface):  # type: ignore[misc]
    """Adds compiled kernels to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and tell the builder of the files and of the wheel's tag."""
        if ASKED not in ("", "no") and not WITH_KERNELS:
            sys.exit(f"NEARDUP_BUILD_KERNELS={ASKED}: give no, or on Linux with glibc {' or '.join(LEVELS)}.")
        if version == "editable" or not WITH_KERNELS:
            return
        self.folder = tempfile.TemporaryDirectory()
        source = Path(self.root) / "src"
        command = [
            sys.executable,
            "-m",
            "neardup.kernels.native.build",
            "--levels",
            LEVELS[MACHINE],
            "--folder",
            self.folder.name,
        ]
        # Before what is there: pip's environment for builds hands its packages on by this variable.
        paths = os.pathsep.join([str(source), *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(command, check=False, env=os.environ | {"PYTHONPATH": paths})
        if done.returncode:
            sys.exit("To build without compiled kernels, set NEARDUP_BUILD_KERNELS=no, and install 'neardup[jit]'.")
        for path in Path(self.folder.name).iterdir():
            build_data["force_include"][str(path)] = f"neardup/kernels/native/{path.name}"
        build_data.update(pure_python=False, tag=TAG.format(machine=MACHINE))

    def finalize(self, *_: Any) -> None:
        """Remove the compiled files; the wheel has them."""
        if hasattr(self, "folder"):
            self.folder.cleanup()
