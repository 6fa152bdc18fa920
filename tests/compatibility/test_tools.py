"""The set-up of the tools: what a skipped test says."""

import pytest

from compatibility import tools


@pytest.mark.parametrize("offline", [True, False])
def test_a_release_that_cannot_be_had_is_named(offline, tmp_path, monkeypatch):
    if offline:
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setattr(tools, "FOLDER", tmp_path)
    monkeypatch.setitem(tools.TOOLS, "simhash", tools.Tool("simhash", ("0.0.0",), ()))
    with pytest.raises(tools.NotInstalledError, match="No matching distribution found for simhash==0.0.0"):
        tools.install("simhash")
    assert not (tmp_path / "simhash" / "installed").exists()
