"""What a store in PostgreSQL has in the DATABASE ALONE, and not in its replicas: notes, texts and judgements."""

from collections.abc import Sequence

from neardup.store.postgresql.following import FollowingFiles
from neardup.store.postgresql.problems import LostError
from neardup.store.record.judgements_table import JudgementRow
from neardup.store.record.notes_table import NoteRow
from neardup.store.record.sealed_texts import Original


class DatabaseFiles(FollowingFiles):
    """The files of a replica, and what is read from the database; see `Files`."""

    @property
    def has_texts(self) -> bool:
        """Whether texts can be read: in the database."""
        return self.rules.texts

    @property
    def texts_shown(self) -> str:
        """What has the texts, in messages."""
        return self.shown

    def notes(self, keys: Sequence[str], now: float) -> dict[str, NoteRow]:
        """The notes with those of these keys that the database has, and that have not expired."""
        notes = self.log.notes
        return self.database.once(lambda connection: notes.read(notes.ask(connection, self.facts.id, keys, now)))

    def originals(self, names: dict[int, str]) -> dict[int, Original]:
        """The texts of kept documents that the database has; see `Files.originals`."""
        if not self.rules.texts or not names:
            return {}
        rows, texts = self.reached.rows, self.log.texts
        found = self.database.once(lambda connection: texts.of_documents(connection, rows, names))
        self._demand_rows(rows, len(found) < len(names))
        return found

    def removed_originals(self, numbers: Sequence[int]) -> dict[int, Original]:
        """The texts of remembered duplicates that the database has."""
        if not self.rules.texts or not numbers:
            return {}
        rows, texts = self.reached.rows, self.log.texts
        found = self.database.once(lambda connection: texts.of_removed(connection, rows, numbers))
        self._demand_rows(rows, len(found) < len(numbers))
        return found

    def _demand_rows(self, rows: int, lacks_some: bool) -> None:
        """If texts are missing: let the call begin again if another service has compacted the store meanwhile.

        Raises:
            LostError: it has.
        """
        if lacks_some and self.demand_there(self.database.once(self.log.head)).rows != rows:
            raise LostError("another service has compacted the store")

    def judgements(self, after: int, limit: int | None) -> list[tuple[int, JudgementRow]]:
        """So many judgements, or all, with numbers above `after` that the database has, in their order."""
        found, store = self.log.judgements, self.facts.id
        return self.database.once(lambda connection: found.after(connection, store, after, limit))

    def judged_pairs(self) -> set[tuple[bytes, bytes]]:
        """The digests of all pairs that are judged."""
        found, store = self.log.judgements, self.facts.id
        return self.database.once(lambda connection: found.pairs(connection, store))

    def count_judgements(self) -> int:
        """How many the database has."""
        return self.database.run(lambda connection: self.log.judgements.count(connection, self.facts.id))
