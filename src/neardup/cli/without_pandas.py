"""Keep Arrow from importing pandas, which takes it half a second, for nothing: no command hands it a data frame.

When it converts its first list, Arrow imports pandas if that is installed, to know its types. Here it does not find it; all other
importers, as functions of the user's in a recipe, do.
"""

import sys
from typing import Any

_WITHOUT = ("neardup", "pyarrow")


class _Finder:
    """Finds nothing, and refuses pandas to Arrow: what Arrow imports by itself, it imports in the name of its caller."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:  # noqa: ARG004
        if name != "pandas":
            return
        frame: Any = sys._getframe(1)
        while frame is not None and "importlib" in frame.f_globals.get("__name__", ""):
            frame = frame.f_back
        if frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _WITHOUT:
            raise ModuleNotFoundError("Arrow needs no pandas in a command", name=name)


def keep_arrow_from_pandas() -> None:
    """From here on, until the process ends."""
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
