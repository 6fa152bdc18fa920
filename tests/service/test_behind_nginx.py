"""nginx passes on what the service says of bodies that are too large, however it is told to talk to the service."""

import shutil
import tempfile
from pathlib import Path

import httpx
import pytest

from deployed import free_port, nginx, running_nginx
from service.serving import FERRY, Served, is_problem, new_store, post

HEAD = """
pid {folder}/pid;
error_log stderr;
events {{ }}
http {{
    access_log off;
    client_max_body_size 0;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream service {{ server 127.0.0.1:{service}; keepalive 4; }}
    server {{
        listen 127.0.0.1:{port};
"""
WAYS = {
    "usual": "",
    "kept": 'proxy_http_version 1.1; proxy_set_header Connection "";',
    "unbuffered": 'proxy_http_version 1.1; proxy_set_header Connection ""; proxy_request_buffering off;',
}
"""By the path under which the service is reached: how nginx talks to it."""


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    """The port of an nginx that takes bodies of any size, before a service that does not."""
    nginx()
    folder, port = Path(tempfile.mkdtemp(prefix="nginx-", dir="/tmp")), free_port()
    folder.chmod(0o711)  # its workers may be another user
    try:
        with Served(
            "--store", new_store(tmp_path_factory.mktemp("nginx") / "s"), "--max-body", "1M", "--quiet"
        ) as served:
            text = HEAD.format(folder=folder, port=port, service=served.port)
            for name, options in WAYS.items():
                text += (
                    f"location /{name}/ {{ proxy_set_header Host localhost; {options} proxy_pass http://service/; }}\n"
                )
            with running_nginx(folder, text + "}}", port):
                yield port
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("megabytes", [2, 6, 40])
@pytest.mark.parametrize("way", WAYS)
def test_a_body_that_is_too_large_gets_the_refusal_of_the_service(proxy, way, megabytes):
    body, url = b'{"text": "' + b"x" * (megabytes << 20) + b'"}', f"http://127.0.0.1:{proxy}/{way}"
    for _ in range(5):
        with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
            found = client.post("/v1/stores/default/check", content=body, headers={"Content-Type": "application/json"})
        assert "more than 1.0 MiB" in is_problem(found, 413, "too_large")
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        assert post(client, "check", {"text": FERRY}).status_code == 200
