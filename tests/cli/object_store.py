"""An S3 store on this machine, and a proxy before it that fails as it is told."""

import contextlib
import http.client
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import boto3


class Proxy(ThreadingHTTPServer):
    """Passes requests on. `fault(method, path)` says what becomes of one: None, an HTTP status, `cut` for half of the answer,
    `lost` if it is done, but not told, `dropped` if it is neither done nor told, or what to call between the two."""

    daemon_threads = True

    def __init__(self, port):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = port
        self.fault = lambda method, path: None
        self.requests = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def _pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.requests.append((self.command, self.path))
        fault = self.server.fault(self.command, self.path)
        if isinstance(fault, int):
            code = {403: "AccessDenied", 404: "NoSuchKey"}.get(fault, "InternalError")
            self._answer(fault, [], f"<Error><Code>{code}</Code><Message>it was told to</Message></Error>".encode())
            return
        if fault == "dropped":
            self.close_connection = True
            return
        behind = http.client.HTTPConnection("127.0.0.1", self.server.behind)
        behind.request(self.command, self.path, body, dict(self.headers))
        answer = behind.getresponse()
        content = answer.read()
        behind.close()
        if callable(fault):
            fault()
        headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in _OWN]
        length = answer.getheader("Content-Length") if self.command == "HEAD" else None
        status = 503 if fault == "lost" else answer.status
        self._answer(status, headers, content, length=length, cut=fault == "cut")

    def _answer(self, status, headers, content, *, length=None, cut=False):
        self.close_connection = True
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # an interrupted program listens no more
            self._write(status, headers, content[: len(content) // 2] if cut else content, length or len(content))

    def _write(self, status, headers, content, length):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else content)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass_on  # noqa: N815 - the names that the server calls


_OWN = {"content-length", "connection", "transfer-encoding", "date", "server"}


class Store:
    """The bucket `corpus` of an S3 store that runs as a process of its own."""

    def __init__(self):
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        port = None
        while port is None:
            line = self._process.stderr.readline()
            assert line, "the store did not begin"
            port = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        self._log = threading.Thread(target=self._process.stderr.read, daemon=True)
        self._log.start()
        self.proxy = Proxy(int(port[1]))
        self._client = boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{port[1]}",
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )
        self._client.create_bucket(Bucket="corpus")

    def close(self):
        self._client.close()
        self.proxy.shutdown()
        self.proxy.server_close()
        self._process.kill()
        self._process.wait()
        self._log.join()
        self._process.stderr.close()

    def put(self, key, content):
        self._client.put_object(Bucket="corpus", Key=key, Body=content)

    def get(self, key):
        return self._client.get_object(Bucket="corpus", Key=key)["Body"].read()

    def keys(self, prefix=""):
        found = self._client.list_objects_v2(Bucket="corpus", Prefix=prefix)
        return [each["Key"] for each in found.get("Contents", [])]

    def unfinished(self):
        """Uploads that were begun, and neither finished nor given up."""
        return self._client.list_multipart_uploads(Bucket="corpus").get("Uploads", [])

    def clear(self):
        self.proxy.fault = lambda method, path: None
        self.proxy.requests.clear()
        for key in self.keys():
            self._client.delete_object(Bucket="corpus", Key=key)
        for upload in self.unfinished():
            self._client.abort_multipart_upload(Bucket="corpus", Key=upload["Key"], UploadId=upload["UploadId"])
