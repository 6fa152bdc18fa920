"""POLICY: which of the documents that come to a store are kept."""

from typing import Literal

Policy = Literal["first", "always"]
POLICIES = {
    "first": "a document that matches a kept one is not kept: the decisions of `dedup`",
    "always": "every document is kept, and its matches are told",
}
"""Which documents are kept."""
