"""GIVEN DOCUMENTS: checked, before the store has them. Metadata stays JSON: decoded, it may take 24 times its bytes."""

from collections.abc import Sequence

import msgspec

from neardup.display import size_text
from neardup.errors import OptionError
from neardup.service.limits import METADATA
from neardup.service.messages.messages import Document, GivenDocument, encode
from neardup.service.problems import Problem
from neardup.service.requests.bodies import decode
from neardup.store.arguments import time_of


def documents_of(given: Sequence[GivenDocument], first: int = 0) -> list[Document]:
    """Documents to add. `first`: the place of the first one in its request.

    Raises:
        Problem: the metadata of one is too large, or no JSON; or it expires at no time.
    """
    return [_document(each, first + place) for place, each in enumerate(given)]


def _document(given: GivenDocument, place: int) -> Document:
    if given.expires is not None:
        try:
            time_of("expires", given.expires)
        except OptionError as problem:
            raise Problem("invalid_value", f"Document {place} (counted from 0): {problem}") from None
    return Document(given.id, given.text, _metadata(given.metadata, place), given.expires)


def _metadata(given: msgspec.Raw, place: int) -> msgspec.Raw | None:
    """The metadata of a document, written in one way, so that equal values have equal bytes; None if there is none."""
    said = bytes(given)
    if not said:
        return None
    if len(said) > METADATA:
        raise Problem(
            "too_large",
            f"The metadata of document {place} (counted from 0) has {size_text(len(said))}; at most {size_text(METADATA)} are "
            "taken. Keep the rest elsewhere, under the id.",
        )
    value = decode(said, object, f"metadata of document {place} (counted from 0)")
    return None if value is None else msgspec.Raw(encode(value))
