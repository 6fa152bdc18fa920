"""The health check of containers asks a service, and nobody else."""

import contextlib
import http.server
import os
import re
import ssl
import subprocess
import sys
import threading

import pytest
import yaml

from deployed import COMPOSE, DEPLOY, certificate_in
from places import ROOT
from service.serving import Served, new_store


def health(*arguments, environment=None):
    """The exit code of the health check, and what it says."""
    command = [sys.executable, DEPLOY / "health.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | (environment or {}))
    return done.returncode, done.stdout + done.stderr


@contextlib.contextmanager
def answering(status, *, certificate=None):
    """The address of a server that answers each GET with a status."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate[:2])
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http{'' if certificate is None else 's'}://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def health_checks():
    """The commands of the health checks, of the image and of Compose."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    yield yaml.safe_load(re.findall(r"^HEALTHCHECK .* CMD (\[.*\])$", text, re.MULTILINE)[0])
    yield COMPOSE["services"]["service-1"]["healthcheck"]["test"][1:]


def test_the_health_checks_of_the_image_and_of_compose_find_a_service_well_and_then_gone(tmp_path):
    first, second = health_checks()
    assert first == ["python", "/opt/neardup/health.py"]
    assert second[:2] == first
    default = re.findall(r'"(http://[^"]+)"', (DEPLOY / "health.py").read_text())[-1]
    asked = [url.replace("127.0.0.1:8080", "127.0.0.1:{}") for url in (default, second[2])]
    assert asked == ["http://127.0.0.1:{}/v1/health", "http://127.0.0.1:{}/v1/ready"]
    with Served("--store", new_store(tmp_path / "s")) as served:
        elsewhere = {"http_proxy": "http://127.0.0.1:9", "no_proxy": ""}
        for url in asked:
            assert health(url.format(served.port), environment=elsewhere) == (0, "")
        assert health(f"{served.url}/v1/nothing") == (1, "")
        assert served.end() == 0
    for url in asked:
        assert health(url.format(served.port)) == (1, "")


@pytest.mark.parametrize("status", [200, 204, 302, 401, 503])
def test_only_200_is_well(status):
    with answering(status) as url:
        assert health(f"{url}/v1/ready") == (0 if status == 200 else 1, "")


def test_a_service_with_tls_can_be_asked_whoever_issued_its_certificate(tmp_path):
    with answering(200, certificate=certificate_in(tmp_path)) as url:
        assert health(f"{url}/v1/health") == (0, "")


def test_what_is_no_address_is_refused():
    assert health("127.0.0.1:8080") == (
        1,
        "'127.0.0.1:8080' is no URL of a service. Give one such as http://127.0.0.1:8080/v1/health.\n",
    )
