"""THE SERVER: the application on uvicorn; where it may listen, and how it ends."""

import asyncio
import contextlib
import dataclasses
import gc
import ipaddress
import logging
import os
import resource
import signal
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import uvicorn

from neardup.errors import InputError, OptionError, is_integer
from neardup.service.app import make_app
from neardup.service.connection import connection_type
from neardup.service.limits import Limits
from neardup.service.logs import Log
from neardup.service.tokens import Tokens, is_read_by_others, read_tokens

BACKLOG = 2048
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_ENDS = (signal.SIGINT, signal.SIGTERM)


def is_local(host: str) -> bool:
    """Whether only this machine reaches an address.

    >>> is_local("127.0.0.1"), is_local("0.0.0.0"), is_local("example.org")
    (True, False, False)
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def demand_safe(host: str, tokens: Tokens, *, has_tls: bool, insecure: bool, behind_proxy: bool) -> None:
    """Refuse to let strangers ask, or read what others ask.

    Raises:
        OptionError: the address is reached from other machines, without tokens, or with tokens that would travel in the clear.
    """
    if insecure:
        return
    if not tokens and not is_local(host):
        raise OptionError(
            f"`host={host!r}` is reached from other machines, and anybody there could read and change the stores. Give `tokens`, "
            "or leave out `host`. If only those whom you trust reach the address, give `insecure=True`."
        )
    if not tokens and behind_proxy:  # a proxy such as nginx names 127.0.0.1 as the host, unless it is told otherwise
        raise OptionError(
            "`behind_proxy=True`: anybody who reaches the proxy could read and change the stores. Give `tokens`. If the proxy "
            "lets in only those whom you trust, give `insecure=True`."
        )
    if is_local(host):
        return
    if not (has_tls or behind_proxy):
        raise OptionError(
            f"`host={host!r}` is reached from other machines, and tokens and texts would travel in the clear. Give "
            "`tls_certificate` and `tls_key`, or let a proxy do TLS and say so: `behind_proxy=True`. If nobody can listen in, give "
            "`insecure=True`."
        )


def serve(
    stores: Mapping[str, str],
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    tokens: str | Path | None = None,
    tls_certificate: str | Path | None = None,
    tls_key: str | Path | None = None,
    behind_proxy: bool = False,
    insecure: bool = False,
    limits: Limits | None = None,
    wait: float = 0.0,
    log: Log | None = None,
) -> None:
    """Serve stores until SIGTERM or SIGINT; then finish what was begun, and return.

    Args:
        stores: the places of stores by their names.
        host, port: where to listen; port 0 takes a free one, which the log names.
        tokens: a file of tokens; by default, those of the environment variable `NEARDUP_TOKENS`, if there is one.
        tls_certificate, tls_key: PEM files.
        behind_proxy: whether a proxy does TLS, so that tokens may come in the clear from it.
        insecure: whether to listen on any address without tokens or TLS.
        limits: what it bears.
        wait: seconds to wait until another process that writes to a store has ended, or for which a database is tried again.
        log: where events go; standard error by default.

    Raises:
        OptionError: the address is not safe, or an option has a value that is not allowed.
        InputError: a store, a certificate or the tokens cannot be opened, or the address cannot be listened on.
        DataError: a store is damaged.
        TransferError: the database of a store cannot be reached.
    """
    limits, log = limits or Limits(), log or Log()
    demand_port(port)
    if (tls_certificate is None) != (tls_key is None):
        raise OptionError("Give both `tls_certificate` and `tls_key`, or none.")
    known = read_tokens(tokens)
    demand_safe(host, known, has_tls=tls_key is not None, insecure=insecure, behind_proxy=behind_proxy)
    context = None if tls_certificate is None or tls_key is None else _tls(tls_certificate, tls_key)
    warn_of_readers(tokens, log)
    hosts = () if known or insecure else (*LOCAL_NAMES, host)
    with contextlib.closing(listening_at(host, port)) as listening:
        app = make_app(stores, limits=limits, tokens=known, hosts=hosts, log=log, wait=wait)
        at = listening.getsockname()
        log("listening", host=at[0], port=at[1], tls=context is not None)
        run(app, listening, context, limits, log)


def demand_port(port: Any) -> None:
    """Refuse (OptionError) what is no port."""
    if not is_integer(port) or not 0 <= port < 1 << 16:
        raise OptionError(f"`port={port!r}`: give a number from 0 to 65535.")


def warn_of_readers(tokens: str | Path | None, log: Log) -> None:
    """Say in the log if other users may read a file of tokens."""
    if tokens is not None and is_read_by_others(tokens) and not _is_credential(tokens):
        log("tokens_are_read_by_others", file=str(tokens))


def run(app: Any, listening: socket.socket, context: ssl.SSLContext | None, limits: Limits, log: Log) -> None:
    """Let an application answer on a socket, until the process is asked to end."""
    gc.freeze()  # else a search for cycles among all that was loaded makes requests wait for some 50 ms now and then
    with logged(log):
        server = server_of(app, _within_files(limits), context)
        asyncio.Runner(loop_factory=server.config.get_loop_factory()).run(server.serve([listening]))


def server_of(app: Any, limits: Limits, context: ssl.SSLContext | None = None) -> "Server":
    """A server of uvicorn under these limits."""
    return Server(
        uvicorn.Config(
            app,
            http=connection_type(limits),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=BACKLOG,
            timeout_keep_alive=int(limits.timeout) + 1,
            timeout_graceful_shutdown=int(limits.timeout) + 1,
            ssl_context_factory=None if context is None else lambda *_: context,
        )
    )


class Server(uvicorn.Server):
    """A server that ends by itself when it is asked to, and whose process then ends as one that has done its work."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Hear what asks to end; the second time, it ends at once. Only the main thread hears."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in _ENDS}
        waking = signal.set_wakeup_fd(-1)  # the command line would end the process after a moment
        try:
            yield
        finally:
            signal.set_wakeup_fd(waking)
            for number, handler in before.items():
                signal.signal(number, handler)


class _Handler(logging.Handler):
    """Messages of libraries as events, without what is filled in: it may have come from a client."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        failure = record.exc_info[1] if record.exc_info else None
        self._log("server", message=str(record.msg).strip(), failure=failure)


@contextlib.contextmanager
def logged(log: Log) -> Iterator[None]:
    """Messages of libraries go to the log."""
    handler, loggers = _Handler(log), [logging.getLogger(name) for name in ("uvicorn", "asyncio", "psycopg", "mcp")]
    before = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, propagates in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.propagate = propagates


def listening_at(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        InputError: the address is taken, or is none of this machine.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as problem:
        said = problem.strerror if isinstance(problem, socket.gaierror) else os.strerror(problem.errno or 0)
        raise InputError(f"{host}:{port} cannot be listened on: {said}. Give another `port` or `host`.") from None


def _is_credential(path: str | Path) -> bool:
    """Whether systemd hands a file over: these have the mode 0440, and only the user of the service can enter their folder."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    return bool(folder) and Path(path).resolve().is_relative_to(Path(str(folder)).resolve())


def _tls(certificate: str | Path, key: str | Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as problem:
        raise InputError(
            f"{certificate} and {key} cannot be used for TLS: {problem.strerror or problem}. Give a certificate and its key as PEM "
            "files."
        ) from None
    return context


def _within_files(limits: Limits) -> Limits:
    """The limits, with no more connections than the process may have open files; as many of these as it may have."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = 1 << 16 if most == resource.RLIM_INFINITY else most
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    return dataclasses.replace(limits, max_connections=max(1, min(limits.max_connections, files - 128)))
