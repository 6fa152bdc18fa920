"""A fixture that asks a tool's release, and skips with pip's message where the tool cannot be had."""

import pytest

from compatibility import tools


@pytest.fixture(scope="session")
def ask():
    missing = {}

    def ask_or_skip(name, release, **question):
        if name not in missing:
            try:
                tools.install(name)
                missing[name] = ""
            except tools.NotInstalledError as error:
                missing[name] = str(error)
        if missing[name]:
            pytest.skip(f"{name} cannot be installed: {missing[name]}")
        return tools.ask(name, release, **question)

    return ask_or_skip
