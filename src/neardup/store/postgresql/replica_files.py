"""REPLICA FILES: the files of a store that follows another one, parts of which can be taken back as if they had not been."""

import contextlib
from collections.abc import Iterator
from functools import cached_property

from neardup.errors import NeardupError
from neardup.store.session.writer import Files
from neardup.store.texts import Texts


class ReplicaFiles(Files):
    """The files of a replica.

    Attributes:
        must_reset: whether `reset` must come before anything else, as something has failed.
    """

    must_reset: bool

    @cached_property
    def no_texts(self) -> Texts:
        """What is kept of no texts."""
        return self.texts([])

    @contextlib.contextmanager
    def part(self) -> Iterator[None]:
        """Changes of the replica that are taken back alone if something fails; `reset` must come then."""
        with self.changing():
            self.record.mark()
        self.must_reset = True
        try:
            yield
            with self.changing():
                self.record.release()
        except BaseException:
            try:
                self.record.undo()
            except NeardupError:  # then all of it was rolled back
                self.record.roll_back()
            raise
        self.must_reset = False

    def reset(self) -> None:
        """Open the replica as it was before what has failed."""
        self.must_reset = True
        with contextlib.suppress(Exception):  # what cannot be kept comes from the log again
            self.contents.sync()
            self.record.commit()
        self.reopen()
        self.must_reset = False
