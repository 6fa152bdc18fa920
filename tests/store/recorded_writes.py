"""What a process wrote to the files below a folder, in order, by strace; and the disks that a loss of power may leave of it."""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512
"""Bytes that a disk writes as a whole."""
CALLS = "openat,lseek,write,pwrite64,ftruncate,fsync,fdatasync,rename,unlink,mkdir"
_LINE = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\d+)")
_PATH = re.compile(r"^(-?\d+)<([^>]*)>")


@dataclass(frozen=True)
class Step:
    """A call: what it did (`write`, `truncate`, `sync`, `create`, `unlink`, `rename`, `say`), to which path, with what."""

    what: str
    path: str
    at: int = 0
    data: bytes = b""


def record(command, folder, log):
    """Run a command, and return the steps that it took below a folder, and what it said."""
    strace = ["strace", "-f", "-y", "-xx", "-s", "100000000", "-o", str(log), "-e", f"trace={CALLS}"]
    subprocess.run([*strace, *command], check=True, stdout=subprocess.PIPE, timeout=300)
    return list(_steps(_whole_lines(log.read_text("ascii")), str(folder)))


def _whole_lines(text):
    """The lines, those joined that another thread's calls have cut."""
    begun = {}
    for line in text.splitlines():
        process, _, rest = line.partition(" ")
        if rest.endswith("<unfinished ...>"):
            begun[process] = line.removesuffix("<unfinished ...>").rstrip()
        elif " resumed>" in rest:
            yield begun.pop(process) + rest.partition(" resumed>")[2]
        else:
            yield line


def _steps(lines, folder):
    position = {}
    for line in lines:
        found = _LINE.match(line)
        if not found or int(found[4]) < 0:
            continue
        call, arguments = found[2], found[3]
        of_file = _PATH.match(arguments)
        path = _text(of_file[2]) if of_file else ""
        if call == "write" and of_file and of_file[1] == "1":
            yield Step("say", "", data=_bytes(arguments))
        elif call in ("rename", "unlink", "mkdir"):
            names = [_text(each) for each in re.findall(r'"([^"]*)"', arguments)]
            if names[0].startswith(folder):
                yield Step(call, names[0], data=names[-1].encode())
        elif call == "openat":
            name = _text(re.search(r'"([^"]*)"', arguments)[1])
            position[name] = 0
            if name.startswith(folder) and "O_CREAT" in arguments:
                yield Step("create", name)
        elif path.startswith(folder):
            if call in ("fsync", "fdatasync"):
                yield Step("sync", path)
            elif call == "ftruncate":
                yield Step("truncate", path, int(arguments.rpartition(", ")[2]))
            elif call == "pwrite64":
                yield Step("write", path, int(arguments.rpartition(", ")[2]), _bytes(arguments)[: int(found[4])])
            elif call == "lseek":
                position[path] = int(found[4])
            elif call == "write":
                data = _bytes(arguments)[: int(found[4])]
                yield Step("write", path, position.get(path, 0), data)
                position[path] = position.get(path, 0) + len(data)


def _bytes(arguments):
    return bytes.fromhex(re.search(r'"([^"]*)"', arguments)[1].replace("\\x", ""))


def _text(quoted):
    return bytes.fromhex(quoted.replace("\\x", "")).decode() if quoted.startswith("\\x") else quoted


@dataclass
class File:
    """A file: what is on the disk for certain, and the changes since, each of which may be or not be."""

    name_is_durable: bool = False
    content: bytearray = field(default_factory=bytearray)
    pending: list = field(default_factory=list)

    def change(self, step):
        """Take a step."""
        self.pending.append(step)

    def sync(self):
        """All changes are on the disk."""
        self.content, self.pending = self.after(self.pending), []

    def after(self, steps):
        """The content after some changes."""
        content = bytearray(self.content)
        for step in steps:
            if step.what == "truncate":
                content = content[: step.at].ljust(step.at, b"\0")
            else:
                content = content.ljust(step.at, b"\0")
                content[step.at : step.at + len(step.data)] = step.data
        return content


def disks(steps, choose, part):
    """For one step in so many (`part`), the disks that a loss of power after it may leave, and what had been said.

    Nothing that was not synced is there, all of it, or some sectors of it, in any order. Yields (said, {path: bytes}).
    """
    files, said, unlinked = {}, b"", {}
    for step in steps:
        if step.what == "say":
            said += step.data
        elif step.what == "create":
            if step.path not in files:
                files[step.path] = File()
        elif step.what == "unlink":
            unlinked[step.path] = files.pop(step.path, File())
        elif step.what == "rename":
            files[step.data.decode()] = files.pop(step.path)
        elif step.what == "sync" and step.path in files:
            files[step.path].sync()
        elif step.what == "sync":
            for path, file in files.items():
                file.name_is_durable |= Path(path).parent == Path(step.path)
            unlinked = {path: file for path, file in unlinked.items() if Path(path).parent != Path(step.path)}
        elif step.path in files:
            files[step.path].change(step)
        if step.what in ("create", "mkdir") or choose.random() * part >= 1:
            continue
        synced = {path: bytes(file.content) for path, file in files.items() if file.name_is_durable}
        yield said, synced | _left(unlinked)
        yield said, {path: bytes(file.after(file.pending)) for path, file in files.items()}
        yield said, dict(_some(files, choose)) | (_left(unlinked) if choose.random() < 0.5 else {})


def _left(unlinked):
    """Files whose removal was lost."""
    return {path: bytes(file.content) for path, file in unlinked.items() if file.name_is_durable}


def _some(files, choose):
    for path, file in files.items():
        if not file.name_is_durable and choose.random() < 0.5:
            continue
        pieces = [piece for step in file.pending for piece in _sectors(step)]
        yield path, bytes(file.after([piece for piece in pieces if choose.random() < 0.5]))


def _sectors(step):
    if step.what != "write":
        yield step
        return
    at, data = step.at, step.data
    while data:
        size = SECTOR - at % SECTOR
        yield Step("write", step.path, at, data[:size])
        at, data = at + size, data[size:]
