"""Arguments of a parametrized test that `make test-all` runs and `make test` leaves out."""

import pytest


def slow(*values):
    """These arguments, marked as slow."""
    return pytest.param(*values, marks=pytest.mark.slow)
