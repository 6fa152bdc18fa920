"""PostgreSQL of Debian's packages, started on a socket in a temporary folder as a user that is not root, and ended by its process id."""

import atexit
import functools
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

MISSING = "needs PostgreSQL: make postgresql, as root on Debian"
_NUMBERS = itertools.count(1)


@functools.cache
def binaries():
    """The folder of its programs; None where it is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parent.parent.name))
    if found:
        return found[-1].parent
    other = shutil.which("initdb")
    return None if other is None else Path(other).resolve().parent


def why_not():
    """Why it cannot be started; None if it can."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "needs psycopg: pip install 'neardup[postgres]'"
    if binaries() is None:
        return MISSING
    return MISSING if os.getuid() == 0 and _user() is None else None


def _user():
    """A user that may run it where we are root."""
    import pwd

    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


class Server:
    """A server with a folder of its own."""

    def __init__(self, *options, based_on=None):
        """`based_on`: the server whose stand-by it is."""
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self._options, self._process = options, None
        if os.getuid() == 0:
            os.chown(self.folder, _user().pw_uid, _user().pw_gid)
        if based_on is None:
            self._run("initdb", "-D", str(self.data), "-U", "neardup", "-A", "trust", "-E", "UTF8", "--no-locale", "-N")
        else:
            self._run(
                "pg_basebackup",
                "-D",
                str(self.data),
                "-h",
                str(based_on.folder),
                "-U",
                "neardup",
                "-R",
                "-N",
                "-c",
                "fast",
            )

    @property
    def data(self):
        return self.folder / "data"

    def url(self, user="neardup", database="postgres"):
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def place(self, schema, store="default", **more):
        """The place of a store."""
        rest = "".join(f"&{name}={value}" for name, value in more.items())
        return f"{self.url()}&schema={schema}&store={store}{rest}"

    def start(self):
        log = (self.folder / "log").open("ab")
        settings = ("fsync=off", "listen_addresses=", f"unix_socket_directories={self.folder}", *self._options)
        command = ["postgres", "-D", str(self.data), *(part for each in settings for part in ("-c", each))]
        self._process = subprocess.Popen(self._as_user(command), stdout=log, stderr=log, start_new_session=True)
        log.close()
        for _ in range(400):
            ready = [binaries() / "pg_isready", "-q", "-h", self.folder]
            if subprocess.run(ready, check=False).returncode == 0:
                return self
            assert self._process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.05)
        raise AssertionError("the server does not start")

    def wait_for(self, primary):
        """Until it has all that its primary has now."""
        (place,) = primary.execute("SELECT pg_current_wal_lsn()")[0]
        while not self.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", (place,))[0][0]:
            time.sleep(0.02)

    def stop(self, how=signal.SIGINT):
        """End it: by SIGINT, with its sessions; by SIGQUIT, as in a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None

    def remove(self):
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder)

    def execute(self, query, values=None, **how):
        """The rows that a statement gives."""
        import psycopg

        with psycopg.connect(self.url(**how), autocommit=True) as connection:
            found = connection.execute(query, values)
            return found.fetchall() if found.description else []

    def _as_user(self, command):
        command = [str(binaries() / command[0]), *command[1:]]
        if os.getuid() != 0:
            return command
        user = _user()
        return ["setpriv", "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups", *command]

    def _run(self, *command):
        subprocess.run(self._as_user(command), check=True, capture_output=True, cwd="/")


@functools.cache
def running():
    """One server for all tests of a process."""
    server = Server().start()
    process = os.getpid()
    atexit.register(lambda: server.remove() if os.getpid() == process else None)
    return server


def new_schema():
    """The name of a schema that no other test has."""
    return f"s{os.getpid()}_{next(_NUMBERS)}"
