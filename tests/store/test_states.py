"""A store that lives: adds, updates, removes, expires, is opened again, compacted, copied and read, and always answers as its
definition. After each call, answered or refused, no transaction is open.
"""

import contextlib
import shutil
import tempfile

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from sizes import set_sizes
from streams import seen

import neardup as nd
from at_rest import WatchedStore as Store
from naive_store import NaiveStore

WORDS = [f"w{i}" for i in range(14)]
TEXTS = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=0, max_size=4).map(" ".join),
    st.tuples(st.integers(0, 2), st.integers(0, 13), st.sampled_from(WORDS), st.booleans()).map(
        lambda drawn: edited(*drawn)
    ),
)
IDS = st.sampled_from([*range(12), "a", "b", "ü"])


def edited(which, place, word, shouts):
    """One of three texts with one word changed."""
    words = [f"t{which}x{i}" for i in range(14)]
    words[place] = word
    return " ".join(words).upper() if shouts else " ".join(words)


def fails(_):
    raise ZeroDivisionError


REFUSED = [
    lambda store: store.expire(newest=-1),
    lambda store: store.expire(by="name"),
    lambda store: store.remove("a"),
    lambda store: store.neighbors(),
    lambda store: store.recent(limit=0),
    lambda store: store.judge((1.5, 2), same=True),
    lambda store: store.check_and_add("a", "b", expires=-1),
    lambda store: store.check_and_add_many(
        ["a", "b"], [edited(0, 1, "w1", False), edited(0, 2, "w1", False)], state=fails
    ),
]
"""Calls that fail, and change nothing."""


class StoreMachine(RuleBasedStateMachine):
    """The store and its definition side by side."""

    options, keep = (), "first"

    @initialize(texts=st.booleans())
    def begin(self, texts):
        self.folder = tempfile.mkdtemp()
        self.naive = NaiveStore(self.options, self.keep, texts=texts)
        self.store = Store(f"{self.folder}/s", threads=1, keep=self.keep, texts=texts, **dict(self.options))
        self.reader = Store(f"{self.folder}/s", mode="r", threads=1)

    @rule(documents=st.lists(st.tuples(IDS, TEXTS), min_size=1, max_size=6))
    def add(self, documents):
        found = self.store.check_and_add_many([name for name, _ in documents], [text for _, text in documents])
        for (name, text), answer in zip(documents, found, strict=True):
            before = set(self.naive.orphans)
            expected = self.naive.add(name, text)
            assert set(answer.orphans.ids) == self.naive.orphans.keys() - before
            told = (
                len(expected) if self.keep == "always" else 1
            )  # the others tell copies in one call their survivor alone
            assert seen(answer)[:told] == expected[:told]

    @rule(text=TEXTS, reads=st.booleans())
    def check(self, text, reads):
        answer = (self.reader if reads else self.store).check(text)
        expected = self.naive.check(text)
        assert seen(answer) == expected
        assert answer.is_new == (not expected)

    @rule(text=TEXTS)
    def neighbors(self, text):
        found = [(match.similarity, match.distance, match.id) for match in self.store.neighbors(text)]
        expected = self.naive.neighbors(text, dict(self.options)["min_similarity"])
        assert found == expected

    @rule(name=IDS)
    def remove(self, name):
        is_kept, before = name in self.naive.kept, set(self.naive.orphans)
        removed = self.store.remove([name])
        self.naive.remove(name)
        assert removed == is_kept
        assert set(removed.orphans.ids) == self.naive.orphans.keys() - before

    @rule(newest=st.integers(0, 9))
    def expire(self, newest):
        oldest = list(self.naive.kept)[: max(0, len(self.naive.kept) - newest)]
        before = set(self.naive.orphans)
        removed = self.store.expire(newest=newest)
        self.naive.remove(*oldest)
        assert removed == len(oldest)
        assert set(removed.orphans.ids) == self.naive.orphans.keys() - before

    @rule(durable=st.sampled_from(["each", "batch"]))
    def open_again(self, durable):
        self.store.close()
        self.store = Store(f"{self.folder}/s", threads=1, durable=durable)

    @rule(call=st.sampled_from(REFUSED), reads=st.booleans())
    def refuse(self, call, reads):
        with pytest.raises((nd.OptionError, ZeroDivisionError)):
            call(self.reader if reads else self.store)

    @rule(name=IDS, other=IDS)
    def judge(self, name, other):
        before = self.store.judgements()
        if name == other or not {name, other} <= self.naive.kept.keys():
            with pytest.raises(nd.OptionError):
                self.store.judge((name, other), same=True)
            assert self.store.judgements() == before
        else:
            self.store.judge((name, other), same=True)

    @rule(reads=st.booleans())
    def look(self, reads):
        store = self.reader if reads else self.store
        store.info(), store.recent(), store.review(), store.judgements(), store.pairs(), store.clusters()

    @rule(reads=st.booleans())
    def back_up(self, reads):
        with tempfile.TemporaryDirectory() as folder:
            (self.reader if reads else self.store).backup(f"{folder}/b")
            with Store(f"{folder}/b", mode="r", threads=1) as copy:
                assert len(copy) == len(self.reader)

    @rule()
    def compact(self):
        self.store.compact()
        assert self.store.info().gone == 0

    @invariant()
    def counts(self):
        if hasattr(self, "store"):
            assert len(self.store) == len(self.naive.kept)
            assert {each.id: each.compared for each in self.store.orphans()} == self.naive.orphans
            self.store.flush()
            assert len(self.reader) == len(self.naive.kept)

    def teardown(self):
        if hasattr(self, "store"):
            with contextlib.closing(self.store), contextlib.closing(self.reader):
                assert self.store.verify().is_sound
            shutil.rmtree(self.folder)


@pytest.mark.parametrize("keep", ["first", "always", "longest", "last"])
@pytest.mark.parametrize(
    ("method", "similarity", "least"),
    [
        ("exact", "jaccard", 0.6),
        ("exact", "weighted", 0.6),
        ("exact", "containment", 0.6),
        ("exact", "cosine", 0.8),
        ("exact", "edit", 0.7),
        ("minhash", "jaccard", 0.6),
        ("simhash", "jaccard", 0.5),
        ("simhash", "jaccard", 0.0),
        ("exact", nd.Similarity(word_shingle=1), 0.7),
    ],
)
def test_a_store_answers_as_its_definition(monkeypatch, method, similarity, least, keep):
    set_sizes(monkeypatch, learned=3, growth=2, moved=6, texts=4)
    options = (("method", method), ("similarity", similarity), ("min_similarity", least))
    machine = type("Machine", (StoreMachine,), {"options": options, "keep": keep})
    run_state_machine_as_test(
        machine, settings=settings(stateful_step_count=15, deadline=None, phases=[Phase.generate])
    )
