"""Arguments of a parametrized test that `make test-all` leaves to `make test-long`. What `make test` leaves out is measured: see `slow.txt`."""

import pytest


def long(*values):
    """These arguments, marked as long."""
    return pytest.param(*values, marks=pytest.mark.long)
