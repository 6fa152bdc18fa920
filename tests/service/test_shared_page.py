"""The example of docs/service.md with several services is run, with the place of a server of the tests instead of the one that it names."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from places import ROOT

PAGE = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
NAMED = "postgresql://neardup@db/pages?"


def test_the_example_of_several_services_gives_what_it_shows(server, schema, tmp_path, cache):
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    named = f"{server.url()}&schema={schema}&"
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "XDG_CACHE_HOME": str(tmp_path),
        "HOME": str(tmp_path),
        "LC_ALL": "C.UTF-8",
    }
    parts = [
        part
        for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    ]
    assert len(parts) == 8
    try:
        for part in parts:
            command, _, expected = re.sub(r"\\\n", " ", part).replace(NAMED, named).partition("\n")
            done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert (done.stdout, done.returncode) == (expected, 0), f"{command}\n{done.stderr}"
    finally:
        for started in tmp_path.glob("*.pid"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(started.read_text()), signal.SIGKILL)
