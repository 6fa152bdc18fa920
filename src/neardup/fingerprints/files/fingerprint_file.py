"""The fingerprint file: Parquet with a row for each row of the shards; its metadata holds the recipe and the shards.

Columns: `id`, and `id_is_string` (false for integers); `fingerprint` (uint64 for up to 64 bits, otherwise fixed-size binary,
big-endian); `short` (too few tokens to be near anything by fingerprint alone); `tokens`, their number, or -1 for a rejected row,
whose id is null; `length`, in characters, of the text before normalization; `digest` (16 bytes, big-endian), equal for equal
normalized texts; `value:NAME` for each further column requested, holding JSON values. For vectors, `tokens` counts the numbers
that are not 0, `length` is the dimension, and `digest` is equal for equal vectors. For fingerprints that another program made,
neither texts nor tokens are known: `tokens` is the least number that is not `short`, `length` is -1, and no two digests are equal.

The metadata holds `neardup.format` (2), `neardup.recipe` (JSON), `neardup.digest` (the recipe's), `neardup.max_distance` (the
recipe's default distance, if it has one), `neardup.short_rule` (see `neardup.recipe.short_rule`) and `neardup.shards` (JSON: name,
relative, rows, size and content of each shard, in the order of the rows). docs/formats/fingerprints.md describes every column and
every key.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.errors import DECODER_ERRORS, DataError, InputError, OptionError, RecipeMismatch
from neardup.fingerprints.documents import Documents
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.stored_shards import StoredShard, starts_of
from neardup.io.ids import plain_ids, tokens_of_ids
from neardup.io.outputs.sealed_parquet import SealedWriter, batches_of, metadata_of, opened_sealed, read_sealed
from neardup.io.storage.places import Place, parquet_source, place_of
from neardup.recipe.kinds import FingerprintRecipe
from neardup.recipe.serialization import any_stored_recipe, check_same
from neardup.recipe.short_rule import NAME, SHORT_RULE, short_rule_of, told_of_short_rule
from neardup.recipe.tables.parts import digest_of

FORMAT = "2"
COLUMNS = ("id", "id_is_string", "fingerprint", "short", "tokens", "length", "digest")
DISTANCE = "neardup.max_distance"
"""The key of the default distance in the metadata; files of earlier versions lack it."""
SHORT = f"neardup.{NAME}"
"""The key of the version of the rule of short texts; files of earlier versions lack it."""
VALUE = "value:"
"""The start of the name of a further column."""


def fingerprint_schema(recipe: FingerprintRecipe, values: Sequence[str] = ()) -> Any:
    """The columns of a fingerprint file."""
    kind = pa.uint64() if recipe.words == 1 else pa.binary(8 * recipe.words)
    kinds = (pa.large_string(), pa.bool_(), kind, pa.bool_(), pa.int64(), pa.int64(), pa.binary(16))
    fields = [pa.field(name, kind, nullable=name == "id") for name, kind in zip(COLUMNS, kinds, strict=True)]
    return pa.schema(
        fields + [pa.field(VALUE + name, pa.large_string()) for name in values],
    )


def fingerprint_metadata(recipe: FingerprintRecipe) -> dict[str, str]:
    """The metadata of a fingerprint file, but for its shards."""
    metadata = {
        "neardup.format": FORMAT,
        "neardup.recipe": json.dumps(recipe.stored(), sort_keys=True),
        "neardup.digest": recipe.digest(),
        SHORT: str(SHORT_RULE),
    }
    return metadata if recipe.max_distance is None else metadata | {DISTANCE: str(recipe.max_distance)}


def fingerprint_column(fingerprints: Array) -> Any:
    """An Arrow array of uint64[n, words]: uint64 for one word, otherwise big-endian bytes."""
    if fingerprints.shape[1] == 1:
        return pa.array(np.ascontiguousarray(fingerprints[:, 0]))
    return _big_endian(fingerprints)


def _big_endian(words: Array) -> Any:
    n, width = words.shape
    content = np.ascontiguousarray(words.astype(">u8"))
    return pa.Array.from_buffers(pa.binary(8 * width), n, [None, pa.py_buffer(content)])


class FingerprintWriter:
    """Writes a fingerprint file in batches to an open binary file."""

    def __init__(self, sink: Any, recipe: FingerprintRecipe, values: Sequence[str] = ()) -> None:
        self._recipe, self._schema = recipe, fingerprint_schema(recipe, values)
        self._writer = SealedWriter(sink, self._schema, fingerprint_metadata(recipe))

    def write(self, documents: Documents) -> None:
        """Append rows, with the values of the columns requested."""
        columns = [
            plain_ids(documents.ids),
            pc.fill_null(pc.starts_with(documents.ids, '"'), True),
            fingerprint_column(documents.fingerprints),
            pa.array(documents.tokens < self._recipe.min_tokens),
            pa.array(documents.tokens),
            pa.array(documents.lengths),
            _big_endian(documents.digests),
            *documents.values.values(),
        ]
        self._writer.write(pa.record_batch(columns, schema=self._schema))

    def close(self, shards: Sequence[StoredShard]) -> None:
        """`shards`: the shards that the rows came from."""
        listed = json.dumps([shard.as_dict() for shard in shards])
        self._writer.close({"neardup.shards": listed})


@dataclass(frozen=True, slots=True)
class FingerprintFile:
    """The contents of a fingerprint file.

    Attributes:
        documents: the rows.
        short: bool[n].
        shards: the shards that the rows came from, in order.
        recipe: the result of `Recipe.stored`.
        digest: the recipe's digest.
        max_distance: the recipe's default distance; None if it has none, or if an earlier version wrote the file.
        short_rule: the version of the rule of short texts.
    """

    documents: Documents
    short: Array
    shards: tuple[StoredShard, ...]
    recipe: dict[str, Any]
    digest: str
    max_distance: int | None = None
    short_rule: int = SHORT_RULE

    def made_by(self) -> FingerprintRecipe:
        """The recipe, with its files; what is not available is as `neardup.recipe.serialization.stored_recipe` says."""
        return any_stored_recipe(self.recipe, self.max_distance)


def common_distance(known: Iterable[tuple[str, int | None]]) -> int | None:
    """The default distance of some fingerprint files, given with their names; None if no file has one.

    Raises:
        OptionError: two files have different ones.
    """
    found = [(name, distance) for name, distance in known if distance is not None]
    for name, distance in found:
        if distance != found[0][1]:
            raise OptionError(
                f"{found[0][0]} has the default distance {found[0][1]}, {name} has {distance}. Give `max_distance`."
            )
    return found[0][1] if found else None


def is_fingerprint_file(shard: Shard) -> bool:
    """Whether the shard is a Parquet file whose metadata declares fingerprints."""
    import pyarrow.parquet as pq

    if shard.format != "parquet":
        return False
    try:
        return b"neardup.digest" in (pq.read_metadata(parquet_source(shard.path)).metadata or {})
    except (OSError, pa.ArrowException, ValueError):  # ValueError: names that are not UTF-8
        return False


def hold_fingerprints(shards: Sequence[Shard]) -> bool:
    """Whether the shards are fingerprint files, instead of texts.

    Raises:
        InputError: some are, and some are not.
    """
    made = [is_fingerprint_file(shard) for shard in shards]
    if any(made) and not all(made):
        raise InputError(
            f"{shards[made.index(False)].name} holds texts, {shards[made.index(True)].name} fingerprints. Give only texts, or "
            "only fingerprint files."
        )
    return any(made)


def _checked(path: str | Place, metadata: Mapping[str, str], names: Sequence[str]) -> dict[str, Any]:
    """Check a file with this metadata and these columns, and return the fields of its recipe."""
    written = metadata.get("neardup.format")
    if written != FORMAT or tuple(names[: len(COLUMNS)]) != COLUMNS or "neardup.shards" not in metadata:
        found = f", but of format {written}" if written not in (None, FORMAT) else ""
        raise DataError(
            f"{path} is no fingerprint file of format {FORMAT}{found}. Make it anew with `neardup fingerprint`."
        )
    recipe: dict[str, Any] = json.loads(metadata["neardup.recipe"])
    stored, made_by = metadata["neardup.digest"], digest_of(recipe)
    if stored != made_by:
        raise RecipeMismatch(
            f"{path} says that the recipe {stored} made its fingerprints, but the recipe that it holds is {made_by}: one of them "
            "was changed, and which one is right nobody knows. Make it anew with `neardup fingerprint`."
        )
    return recipe


def _documents(table: Any, recipe: dict[str, Any]) -> Documents:
    names = table.column_names
    return Documents(
        _words(table.column("fingerprint"), (recipe["bits"] + 63) // 64),
        _words(table.column("digest"), 2),
        table.column("tokens").to_numpy(),
        table.column("length").to_numpy(),
        tokens_of_ids(table.column("id").combine_chunks(), table.column("id_is_string").combine_chunks()),
        {
            name.removeprefix(VALUE): table.column(name).combine_chunks().cast(pa.large_string())
            for name in names[len(COLUMNS) :]
        },
    )


@contextmanager
def _translated_errors(path: str | Place) -> Iterator[None]:
    """ValueError: a broken seal, or names that are not UTF-8."""
    try:
        yield
    except (OSError, pa.ArrowException, *DECODER_ERRORS) as problem:
        raise DataError(
            f"{path} cannot be read as a fingerprint file: {problem}. Make it anew with `neardup fingerprint`."
        ) from None


def read_fingerprint_file(path: str | Place) -> FingerprintFile:
    """Read a fingerprint file.

    Raises:
        RecipeMismatch: its digest does not match its recipe.
        DataError: it is damaged, has another format, or lacks the columns of a fingerprint file.
    """
    with _translated_errors(path):
        table, metadata = read_sealed(place_of(path))
    recipe = _checked(path, metadata, table.column_names)
    shards = tuple(StoredShard(**shard) for shard in json.loads(metadata["neardup.shards"]))
    if starts_of(shards)[-1] != len(table):
        raise DataError(f"{path} has {len(table):,} rows, but its shards have {starts_of(shards)[-1]:,}. Make it anew.")
    documents = _documents(table, recipe)
    short, digest = table.column("short").to_numpy(), metadata["neardup.digest"]
    return FingerprintFile(documents, short, shards, recipe, digest, _distance(metadata), _short_rule(metadata))


def read_fingerprint_files(shards: Sequence[Shard], say: Callable[[str], object]) -> list[FingerprintFile]:
    """Read fingerprint files of one recipe. `say`: gets what users should know of them.

    Raises:
        RecipeMismatch: the files have different recipes.
        InputError: two files have rows of the same shard.
        DataError: a file cannot be read.
    """
    files = [read_fingerprint_file(shard.path) for shard in shards]
    owner: dict[str, str] = {}
    for shard, file in zip(shards, files, strict=True):
        if older := told_of_short_rule(file.short_rule, "; make it again with `neardup fingerprint`"):
            say(f"{shard.name} was {older}")
        check_same(files[0].recipe, file.recipe, shard.name, f"that of {shards[0].name}")
        for stored in file.shards:
            first = owner.setdefault(stored.name, shard.name)
            if first != shard.name:
                raise InputError(
                    f"{first} and {shard.name} both have the fingerprints of {stored.name}. Give one of them."
                )
    return files


def fingerprint_file_recipe(path: str | Place) -> FingerprintRecipe:
    """The recipe of a fingerprint file.

    Raises:
        DataError: see `read_fingerprint_file`.
    """
    recipe, metadata = _made_by(path)
    return any_stored_recipe(recipe, _distance(metadata))


def fingerprint_file_short_rule(path: str | Place) -> int:
    """The version of the rule of short texts by which a fingerprint file was made.

    Raises:
        DataError: see `read_fingerprint_file`.
    """
    return _short_rule(_made_by(path)[1])


def _made_by(path: str | Place) -> tuple[dict[str, Any], Mapping[str, str]]:
    """The fields of the recipe of a file, and its metadata."""
    with _translated_errors(path), opened_sealed(place_of(path)) as file:
        metadata, names = metadata_of(file), file.schema_arrow.names
    return _checked(path, metadata, names), metadata


def _short_rule(metadata: Mapping[str, str]) -> int:
    return short_rule_of({} if SHORT not in metadata else {NAME: metadata[SHORT]})


def _distance(metadata: Mapping[str, str]) -> int | None:
    return int(metadata[DISTANCE]) if DISTANCE in metadata else None


def fingerprint_file_parts(path: str | Place) -> Iterator[Documents]:
    """The rows of a fingerprint file, in parts.

    Raises:
        DataError: see `read_fingerprint_file`.
    """
    with _translated_errors(path), opened_sealed(place_of(path)) as file:
        recipe = _checked(path, metadata_of(file), file.schema_arrow.names)
        for batch in batches_of(file, COLUMNS):
            yield _documents(pa.table(batch), recipe)


def _words(column: Any, words: int) -> Array:
    return np.concatenate([np.empty((0, words), np.uint64), *map(_words_of_chunk, column.chunks)])


def _words_of_chunk(chunk: Any) -> Array:
    if pa.types.is_uint64(chunk.type):
        return np.ascontiguousarray(chunk.to_numpy().reshape(-1, 1))
    size = chunk.type.byte_width
    content = np.frombuffer(chunk.buffers()[1], ">u8", count=(chunk.offset + len(chunk)) * size // 8)
    return content[chunk.offset * size // 8 :].reshape(len(chunk), size // 8).astype(np.uint64)
