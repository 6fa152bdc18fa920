"""systemd understands the unit, and its command runs under what the unit forbids, as far as that can be had without systemd."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deployed import PAGE, UNIT, bearer, make_secrets, of_unit
from neardup.kernels import compilation
from service.serving import BREAD, FERRY, LATER, add, httpx, new_store, post

PR_SET_MDWE, REFUSE_EXEC_GAIN = 65, 1


def systemd_analyze(*arguments):
    """What it says; skips where it is not installed, or older than the checks."""
    found = shutil.which("systemd-analyze")
    if found is None:
        pytest.skip("needs systemd-analyze, of Debian's package systemd")
    version = int(re.findall(r"\d+", subprocess.run([found, "--version"], capture_output=True, text=True).stdout)[0])
    if version < 250:
        pytest.skip(f"systemd-analyze {version} cannot check units that are not loaded")
    return subprocess.run([found, *arguments], capture_output=True, text=True, env=os.environ | {"SYSTEMD_COLORS": "0"})


@pytest.fixture
def unit(tmp_path):
    """The unit, with a program that is installed here."""
    path = tmp_path / "neardup.service"
    path.write_text(UNIT.replace("/opt/neardup/bin/neardup", str(Path(sys.executable).parent / "neardup")))
    return path


def test_systemd_understands_the_unit(unit):
    done = systemd_analyze("verify", str(unit))
    assert (done.returncode, done.stderr) == (0, "")
    unit.write_text(unit.read_text().replace("NoNewPrivileges", "NoNewPrivilege"))
    assert "NoNewPrivilege" in systemd_analyze("verify", str(unit)).stderr


def test_systemd_finds_the_unit_hardened(unit):
    done = systemd_analyze("security", "--offline=yes", "--threshold=15", str(unit))
    assert done.returncode == 0, done.stdout
    loose = unit.read_text().replace("CapabilityBoundingSet=\n", "").replace("NoNewPrivileges=yes\n", "")
    unit.write_text(loose)
    assert systemd_analyze("security", "--offline=yes", "--threshold=15", str(unit)).returncode != 0


def test_the_unit_names_folders_and_credentials_that_it_has():
    assert of_unit("StateDirectory") == of_unit("CacheDirectory") == of_unit("User") == ["neardup"]
    assert of_unit("LoadCredential") == ["tokens:/etc/neardup/tokens"]
    assert "--tokens %d/tokens" in of_unit("ExecStart")[0]
    assert "--store %S/neardup/seen.store" in of_unit("ExecStart")[0]
    assert of_unit("RestartPreventExitStatus") == ["2"]
    for path in ("/etc/neardup/tokens", "/var/lib/neardup/seen.store", "/opt/neardup/bin/pip"):
        assert path in PAGE


def unit_arguments(folder):
    """The arguments of the unit's command, with folders of a test."""
    [command] = re.findall(r"^ExecStart=\S+ serve (.*)$", UNIT, re.MULTILINE)
    command = re.sub(r"--port \d+ ", "", command)
    return command.replace("%S/neardup", str(folder)).replace("%d", str(folder / "secrets")).split()


WITHOUT_EXECUTABLE_MEMORY = f"""
import ctypes, os, sys
if ctypes.CDLL(None, use_errno=True).prctl({PR_SET_MDWE}, {REFUSE_EXEC_GAIN}, 0, 0, 0):
    sys.exit("skip: " + os.strerror(ctypes.get_errno()))
import mmap
try:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    sys.exit("memory may be executable")
except PermissionError:
    pass
os.execv(sys.executable, [sys.executable, "-m", "neardup", *sys.argv[1:]])
"""


def test_the_command_of_the_unit_needs_no_memory_that_is_made_executable(tmp_path):
    """As MemoryDenyWriteExecute has it; the kernel's own switch for it."""
    if compilation.JIT:
        pytest.skip("needs kernels that were compiled ahead of time: make kernels")
    tokens = make_secrets(tmp_path)
    new_store(tmp_path / "seen.store")
    started = [sys.executable, "-c", WITHOUT_EXECUTABLE_MEMORY, "serve", "--port", "0", *unit_arguments(tmp_path)]
    process = subprocess.Popen(started, stderr=subprocess.PIPE, text=True)
    try:
        port = None
        for line in process.stderr:
            if line.startswith("skip: "):
                pytest.skip(f"the kernel cannot forbid it: {line[6:]}")
            event = json.loads(line)
            port = event.get("port", port)
            if event["event"] == "started":
                break
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=bearer(tokens), trust_env=False) as client:
            assert add(client, "ferry", FERRY)["is_new"]
            assert add(client, "later", LATER)["duplicate_of"] == "ferry"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stderr.close()


@pytest.mark.slow
def test_the_unit_allows_every_call_of_the_system_that_the_service_makes(tmp_path):
    for program in ("strace", "systemd-analyze"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
    tokens = make_secrets(tmp_path)
    new_store(tmp_path / "seen.store")
    trace = ["strace", "-f", "-qq", "-o", str(tmp_path / "trace"), "-e", "signal=none"]
    started = [*trace, sys.executable, "-m", "neardup", "serve", "--port", "0", *unit_arguments(tmp_path)]
    process = subprocess.Popen(started, stderr=subprocess.PIPE, text=True)
    port = None
    for line in process.stderr:
        event = json.loads(line) if line.startswith("{") else {}
        port = event.get("port", port)
        if event.get("event") == "started":
            break
    if port is None:
        process.stderr.close()
        process.wait(60)
        pytest.skip("strace may not trace here")
    with httpx.Client(
        base_url=f"http://127.0.0.1:{port}", headers=bearer(tokens), timeout=60, trust_env=False
    ) as client:
        for number in range(40):
            add(client, number, f"{BREAD} {number}")
        assert client.get("/v1/ready").status_code == 200
        assert post(client, "neighbors", {"text": BREAD}).status_code == 200
    [child] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(child), signal.SIGTERM)
    process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 0
    found = re.findall(r"^\d+ +(\w+)\(", (tmp_path / "trace").read_text(errors="replace"), re.MULTILINE)
    made = set(found) - {"execve"}  # of systemd itself
    assert {"accept4", "openat", "mmap"} <= made
    if os.geteuid() == 0:
        made.discard(
            "fchown"
        )  # SQLite gives its files to the owner of the database, but only as root, which the unit is not
    allowed = set()
    for line in of_unit("SystemCallFilter"):  # in their order, as systemd reads them
        named = [each for each in line.removeprefix("~").split() if each.startswith("@")]
        calls = calls_of(named) | set(line.removeprefix("~").split()) - set(named)
        allowed = allowed - calls if line.startswith("~") else allowed | calls
    assert made - allowed == set()
    assert not {"chown", "mount", "ptrace", "setpriority"} & allowed


def calls_of(sets):
    """The calls of sets such as @system-service."""
    found = set()
    for name in sets:
        done = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True)
        for each in done.stdout.split("\n")[1:]:
            each = each.strip()
            if each.startswith("@"):
                found |= calls_of([each])
            elif each and not each.startswith("#"):
                found.add(each)
    return found
