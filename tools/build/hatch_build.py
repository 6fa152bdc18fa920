"""Builds wheels: with kernels compiled for every level of x86-64 on Linux, or without, for Numba to compile at first use.

`NEARDUP_BUILD_KERNELS=no` makes the latter anywhere. An editable installation has none: `make kernels` compiles them in place.
"""

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LEVELS = "v2,v3,v4"
TAG = "cp311-abi3-manylinux_2_17_x86_64"
"""Of the C library they use functions alone that it has had since 2.2.5; 2.17 is the oldest usual tag."""

WITH_KERNELS = sys.platform == "linux" and platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc"


class KernelsHook(BuildHookInterface):  # type: ignore[misc]
    """Adds compiled kernels to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and tell the builder of the files and of the wheel's tag."""
        if version == "editable" or not WITH_KERNELS or os.environ.get("NEARDUP_BUILD_KERNELS") == "no":
            return
        self.folder = tempfile.TemporaryDirectory()
        source = Path(self.root) / "src"
        command = [
            sys.executable,
            "-m",
            "neardup.kernels.native.build",
            "--levels",
            LEVELS,
            "--folder",
            self.folder.name,
        ]
        done = subprocess.run(command, check=False, env=os.environ | {"PYTHONPATH": str(source)})
        if done.returncode:
            sys.exit("To build without compiled kernels, set NEARDUP_BUILD_KERNELS=no, and install 'neardup[jit]'.")
        for path in Path(self.folder.name).iterdir():
            build_data["force_include"][str(path)] = f"neardup/kernels/native/{path.name}"
        build_data.update(pure_python=False, tag=TAG)

    def finalize(self, *_: Any) -> None:
        """Remove the compiled files; the wheel has them."""
        if hasattr(self, "folder"):
            self.folder.cleanup()
