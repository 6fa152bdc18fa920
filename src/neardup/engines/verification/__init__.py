"""VERIFY: candidates are compared by the elements of their texts, wherever these are."""
