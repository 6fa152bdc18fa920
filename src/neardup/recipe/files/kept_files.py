"""The files that a recipe needs, kept with the fingerprints that it made, so that texts can be compared with these later.

A stored recipe is the result of `Recipe.as_dict` with one more entry, `files`, which no digest depends on. Each file has its kind,
its digest and its path, and its content if it is small: `text` or `base64`, or in an index `kept`, the name of a copy in the
folder. Large files are found again by path and digest.
"""

import base64
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from neardup.errors import DataError, NeardupError
from neardup.recipe.fields import RecipeFields
from neardup.recipe.files.document_frequencies import BACKGROUND, DocumentFrequencies, background_digest
from neardup.recipe.files.word_lists import STOP_LISTS, USER_DICTIONARIES, WordList, read_word_list, word_list
from neardup.recipe.stored_parts import StoredPart
from neardup.recipe.tables.parts import FILES

WORDS, FREQUENCIES = "words", "frequencies"
"""The kinds of files, named as the digests of their contents are in a recipe."""
SMALL_BYTES = 1 << 16
"""The largest file whose content is kept in a summary, or in the metadata of a file of fingerprints."""
ENDINGS = {WORDS: ".txt", FREQUENCIES: ".parquet"}
WHAT = {WORDS: "words", FREQUENCIES: "document frequencies"}
"""The kinds in messages."""


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file that a recipe needs.

    Attributes:
        kind: WORDS or FREQUENCIES.
        digest: the digest of the content, as in the recipe's values; 16 hexadecimal digits.
        path: the absolute path of the file when the recipe was used; BACKGROUND for the file of that package.
        content: the content; None if only the path is kept.
        kept: the name of the copy in an index's folder.
    """

    kind: str
    digest: str
    path: str
    content: bytes | None = None
    kept: str | None = None

    @property
    def copy_name(self) -> str:
        """The name of a copy."""
        return f"{self.kind}-{self.digest}{ENDINGS[self.kind]}"

    def as_dict(self) -> dict[str, Any]:
        """The entry of a stored recipe, ready for JSON."""
        values: dict[str, Any] = {"kind": self.kind, "digest": self.digest, "path": self.path}
        if self.kept is not None:
            values["kept"] = self.kept
        elif self.content is not None and self.kind == WORDS:
            values["text"] = self.content.decode()
        elif self.content is not None:
            values["base64"] = base64.b64encode(self.content).decode()
        return values

    @classmethod
    def of_dict(cls, values: Mapping[str, Any]) -> "KeptFile":
        """Restore what `as_dict` returned.

        Raises:
            DataError: the entry is damaged.
        """
        try:
            content = values["text"].encode() if "text" in values else None
            if "base64" in values:
                content = base64.b64decode(values["base64"], validate=True)
            found = cls(values["kind"], values["digest"], values["path"], content, values.get("kept"))
            if found.kind not in ENDINGS or found.kept not in (None, found.copy_name):
                raise ValueError(found.kind)
        except (LookupError, ValueError, TypeError, AttributeError) as problem:
            raise DataError(f"A stored recipe names its files in a way that cannot be read: {problem!r}.") from None
        return found

    def part(self) -> Any:
        """The part of the recipe that the file is: a `WordList`, `DocumentFrequencies`, or a `StoredPart` with what is wrong."""
        try:
            found = self._read()
        except (NeardupError, OSError) as problem:
            return self._missing(str(problem).rstrip("."))
        if found.digest != self.digest:
            return self._missing(f"it has changed since: its digest is {found.digest}, not {self.digest}")
        return replace(found, content=self.content) if isinstance(found, DocumentFrequencies) else found

    def _read(self) -> WordList | DocumentFrequencies:
        if self.kind == WORDS:
            if self.content is not None:
                return word_list(self.path, self.content, "list of words")
            self._demand_file()
            return read_word_list(self.path, "list of words")
        from neardup.recipe.files.frequency_file import describe_frequency_file

        if self.path == BACKGROUND:
            return DocumentFrequencies(background_digest(), BACKGROUND)
        if self.content is None:
            self._demand_file()
        return describe_frequency_file(self.path, self.content)

    def _demand_file(self) -> None:
        if not Path(self.path).exists():
            raise DataError("it is not there any more")
        if not Path(self.path).is_file():  # what a crafted file of fingerprints may name
            raise DataError("it is no file any more")

    def _missing(self, reason: str) -> StoredPart:
        made = f"what is stored was made with the {WHAT[self.kind]} of"
        if self.path == BACKGROUND:
            why = f"{made} the package {BACKGROUND}, but {reason}. Install the version that it was made with"
        else:
            why = f"{made} {self.path}, but {reason}. Put that file back, or give `recipe` with a copy of it"
        return StoredPart(f'{{"{self.kind}": "{self.digest}"}}', why, self)


def kept_files(recipe: RecipeFields) -> tuple[KeptFile, ...]:
    """The files that a recipe needs, each once; small ones with their content."""
    parts = (recipe.dictionary, *recipe.stop_words, recipe.document_frequencies)
    found = {(each.kind, each.digest): each for part in parts for each in _file_of(part)}
    return tuple(found.values())


def _file_of(part: Any) -> Iterator[KeptFile]:
    if isinstance(part, StoredPart):
        if isinstance(part.file, KeptFile):
            yield part.file
    elif isinstance(part, WordList) and part.name not in (*STOP_LISTS, *USER_DICTIONARIES):
        content = ("\n".join(part.lines) + "\n").encode()
        yield KeptFile(WORDS, part.digest, os.path.abspath(part.name), content if len(content) <= SMALL_BYTES else None)
    elif isinstance(part, DocumentFrequencies) and part.path == BACKGROUND:
        yield KeptFile(FREQUENCIES, part.digest, BACKGROUND)
    elif isinstance(part, DocumentFrequencies):
        yield KeptFile(FREQUENCIES, part.digest, os.path.abspath(part.path), part.content or _small(Path(part.path)))


def _small(path: Path) -> bytes | None:
    """The content of a file if it is small."""
    try:
        return path.read_bytes() if path.stat().st_size <= SMALL_BYTES else None
    except OSError:
        return None


def files_of(stored: Mapping[str, Any]) -> dict[tuple[str, str], KeptFile]:
    """The files of a stored recipe, by kind and digest.

    Raises:
        DataError: an entry is damaged.
    """
    each = map(KeptFile.of_dict, stored.get(FILES, ()))
    return {(file.kind, file.digest): file for file in each}
