"""What tests of the files in deploy/ share: the folder, secrets that its script makes, and the certificate of a service."""

import contextlib
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest
import yaml

from places import ROOT

DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs/deployment.md").read_text(encoding="utf-8")
UNIT = (DEPLOY / "neardup.service").read_text(encoding="utf-8")
CALLERS = ("crawler", "prometheus", "operator")


def of_unit(name):
    """The values of a setting of the unit."""
    return re.findall(rf"^{name}=(.*)$", UNIT, re.MULTILINE)


def make_secrets(folder):
    """Run the script of the project in a folder; the tokens that it makes, by their callers."""
    shutil.copy(DEPLOY / "make-secrets", folder)
    subprocess.run([folder / "make-secrets"], check=True, capture_output=True)
    made = dict(line.split()[::2] for line in (folder / "secrets/tokens").read_text().splitlines())
    assert set(made) == set(CALLERS)
    return made


def bearer(tokens, name="crawler"):
    return {"Authorization": f"Bearer {tokens[name]}"}


def certificate_in(folder):
    """The files of a certificate of localhost, of its key, and of its authority."""
    trustme = pytest.importorskip("trustme")
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    files = folder / "server.pem", folder / "server.key", folder / "authority.pem"
    issued.cert_chain_pems[0].write_to_path(files[0])
    issued.private_key_pem.write_to_path(files[1])
    authority.cert_pem.write_to_path(files[2])
    return files


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def nginx():
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip("needs nginx: make nginx, as root on Debian")
    return found


@contextlib.contextmanager
def running_nginx(folder, text, port):
    """nginx with a configuration, which answers on a port when it is ready."""
    (folder / "nginx.conf").write_text(text)
    command = [nginx(), "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    process = subprocess.Popen([*command, "-g", "daemon off;"], stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            assert process.poll() is None
            time.sleep(0.05)
        yield
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait(60)
