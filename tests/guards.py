"""Guards against tests that pass because they looked at nothing."""


def not_empty(values):
    """The values, of which there must be any: a loop that asserts over nothing proves nothing."""
    found = list(values)
    assert found, "there is nothing to look at"
    return found
