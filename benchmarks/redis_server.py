"""Debian's Redis on a free port of this machine, for as long as a benchmark needs it.

`apt-get install redis-server` brings the program (`make redis`). Nothing but this machine can reach it, and it ends with its user.
"""

import shutil
import socket
import subprocess
import time
from pathlib import Path

from contender import UnavailableError

PATIENCE_SECONDS = 60.0


class RedisServer:
    """A server whose files lie in a folder.

    Attributes:
        port: where it listens.
    """

    def __init__(self, folder: Path, fsync: str) -> None:
        """Start it.

        Args:
            folder: where it keeps its append-only file; what lies there is loaded.
            fsync: when a write is synced: "always", before it is acknowledged, or "everysec".

        Raises:
            UnavailableError: there is no redis-server.
        """
        program = shutil.which("redis-server")
        if program is None:
            raise UnavailableError("there is no redis-server: run `make redis` as root, on Debian")
        self._folder, self._fsync, self._program = folder, fsync, program
        folder.mkdir(parents=True, exist_ok=True)
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        import redis

        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = int(found.getsockname()[1])
        options = {"bind": "127.0.0.1", "port": str(self.port), "dir": str(self._folder.resolve()), "save": ""}
        options |= {"appendonly": "yes", "appendfsync": self._fsync, "daemonize": "no"}
        command = [self._program, *(part for name, value in options.items() for part in (f"--{name}", value))]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.client = redis.Redis(host="127.0.0.1", port=self.port)
        last = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self.client.ping()
                return
            except redis.exceptions.RedisError:
                if time.monotonic() > last or self._process.poll() is not None:
                    raise
                time.sleep(0.005)

    def stop(self) -> None:
        """Let it write what is open, and end it."""
        self.client.close()
        self._process.terminate()
        self._process.wait(PATIENCE_SECONDS)

    def memory_bytes(self) -> int:
        """What its data take in memory, as it says."""
        return int(self.client.info("memory")["used_memory"])
