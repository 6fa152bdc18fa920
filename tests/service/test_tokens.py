"""Tokens are read from a file or the environment, and refused without being quoted."""

import hashlib
import hmac

import pytest

import neardup as nd
from neardup.service import tokens
from neardup.service.tokens import ANYBODY, VARIABLE, Tokens, read_tokens
from service.serving import TOKEN, tokens_in


def test_a_token_is_known_by_its_digest_alone_and_every_one_is_compared(tmp_path, monkeypatch):
    found = read_tokens(tokens_in(tmp_path))
    compared, really = [], hmac.compare_digest
    monkeypatch.setattr(tokens.hmac, "compare_digest", lambda a, b: compared.append(b) or really(a, b))
    assert found.caller(f"Bearer {TOKEN}r").name == "reader"
    assert found.caller(f"bearer {TOKEN}a").role == "admin"
    assert found.caller("Bearer x") is None
    assert len(compared) == 9
    assert set(compared) == {hashlib.sha256(each.encode()).digest() for each in (f"{TOKEN}r", f"{TOKEN}a", "x")}
    assert TOKEN not in repr(found)


def test_without_tokens_anybody_may_do_everything(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert not read_tokens(None)
    assert Tokens().caller(None) is ANYBODY
    assert ANYBODY.may("admin")


def test_tokens_may_come_from_the_environment(monkeypatch):
    monkeypatch.setenv(VARIABLE, f"# comment\n\ncrawler write {TOKEN}\n")
    caller = read_tokens(None).caller(f"Bearer {TOKEN}")
    assert (caller.name, caller.may("read"), caller.may("write"), caller.may("admin")) == ("crawler", True, True, False)


@pytest.mark.parametrize("given", ["", "\n", "# crawler write"])
def test_an_environment_variable_without_tokens_does_not_let_in_everybody(monkeypatch, given):
    monkeypatch.setenv(VARIABLE, given)
    with pytest.raises(
        nd.InputError, match="the environment variable NEARDUP_TOKENS has no tokens. Give lines such as"
    ):
        read_tokens(None)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([f"crawler {TOKEN}"], "line 1: give a name, one of the roles read, write, admin, and a token"),
        (["", f"crawler root {TOKEN}"], "line 2: give a name, one of the roles"),
        ([f"crawler write {TOKEN[:-1]}"], "the token of crawler has 19 characters. Give at least 20"),
        ([f"crawler write {TOKEN}ü"], "letters, digits and"),
        ([f"a read {TOKEN}", f"a write {TOKEN}2"], "line 2: the name or the token stands there twice"),
        ([f"a read {TOKEN}", f"b write {TOKEN}"], "line 2: the name or the token stands there twice"),
        (["# nothing"], "has no tokens. Give lines such as `crawler write TOKEN`"),
    ],
)
def test_lines_that_are_none(tmp_path, lines, said):
    with pytest.raises(nd.InputError) as refused:
        read_tokens(tokens_in(tmp_path, *lines))
    assert said in str(refused.value)
    assert TOKEN[:-1] not in str(refused.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(nd.InputError, match="cannot be read: No such file"):
        read_tokens(tmp_path / "none")
    (tmp_path / "latin").write_bytes(b"\xff")
    with pytest.raises(nd.InputError, match="is not UTF-8"):
        read_tokens(tmp_path / "latin")
