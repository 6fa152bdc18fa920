"""The hook that compiles kernels when a wheel is built; `tools/try_distribution.py` builds and installs for real."""

import importlib.util
import os
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest

from places import ROOT


@pytest.mark.parametrize("given", [None, "/env/site"])
def test_what_compiles_has_the_packages_of_the_build_environment(given, monkeypatch):
    for name in (
        "hatchling",
        *(f"hatchling.{below}" for below in ("builders", "builders.hooks", "builders.hooks.plugin")),
    ):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    interface = ModuleType("interface")
    interface.BuildHookInterface = object
    monkeypatch.setitem(sys.modules, "hatchling.builders.hooks.plugin.interface", interface)
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "tools/build/hatch_build.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    called = []
    monkeypatch.setattr(hook, "WITH_KERNELS", True)
    monkeypatch.setattr(hook, "MACHINE", "x86_64")
    monkeypatch.setattr(
        subprocess, "run", lambda command, env, **_: called.append(env) or SimpleNamespace(returncode=0)
    )
    monkeypatch.delenv("PYTHONPATH", raising=False)
    if given:
        monkeypatch.setenv("PYTHONPATH", given)
    made = hook.KernelsHook()
    made.root = str(ROOT)
    made.initialize("standard", {"force_include": {}})
    made.finalize()
    assert called[0]["PYTHONPATH"].split(os.pathsep) == [str(ROOT / "src"), *filter(None, [given])]
