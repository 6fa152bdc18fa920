"""Arguments of a parametrized test that `make test` leaves out, and of these, what `make test-all` leaves to `make test-long`."""

import pytest


def slow(*values):
    """These arguments, marked as slow."""
    return pytest.param(*values, marks=pytest.mark.slow)


def long(*values):
    """These arguments, marked as long."""
    return pytest.param(*values, marks=pytest.mark.long)
