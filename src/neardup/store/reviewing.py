"""REVIEW a store: what it has removed lately, what is worth judging, and what was judged."""

from neardup.store.answers import Judgement, RecentDuplicate, ReviewPair
from neardup.store.review import judge as judging
from neardup.store.review import lists as review_lists
from neardup.store.session.backend import Backend
from neardup.store.session.calls import changing_call, one_call


class Reviewed:
    """The part of `neardup.store.store.Store` that people look at."""

    _files: Backend

    @one_call
    def recent(
        self, *, limit: int = 50, before: str | None = None, max_bytes: int | None = None
    ) -> list[RecentDuplicate]:
        """The latest duplicates that are remembered, newest first.

        A store remembers each different text that was a duplicate when it came, once. These are not listed: copies that are equal
        to a kept document after normalization; later copies of a remembered text; duplicates whose survivors were removed; and all
        of a store whose `keep` is not "first", which remembers none.

        Args:
            limit: how many, at most.
            before: the `position` of a duplicate; those that came before it are listed. To go on, give that of the last one.
            max_bytes: fewer are listed if their texts would have more bytes, but one at least.
        """
        return review_lists.recent(self._files, limit, before, max_bytes)

    @one_call
    def review(self, *, limit: int = 20, max_bytes: int | None = None) -> list[ReviewPair]:
        """The pairs nearest the threshold that nobody has judged, the nearest first.

        These are remembered duplicates, which are at or above it; with a `floor` below the threshold, or `keep="always"`, also
        pairs of kept documents, one of which is among the last 256 that were added.

        Args:
            limit, max_bytes: as for `recent`.
        """
        return review_lists.review(self._files, limit, max_bytes)

    @changing_call
    def judge(self, pair: judging.Pair, *, same: bool) -> int:
        """Keep a judgement of a pair, in the place of an earlier one; returns how many there are. No decision depends on them.

        It is as durable as documents are, and has the similarity, and the texts if the store keeps them. It is forgotten with
        either of the documents.

        Args:
            pair: what `recent` or `review` has listed; or the ids of two kept documents.
            same: whether the two are duplicates.

        Raises:
            OptionError: there is no such pair any more.
        """
        return judging.judge(self._files, pair, same)

    @one_call
    def judgements(self, *, limit: int | None = None, after: int = 0, max_bytes: int | None = None) -> list[Judgement]:
        """All judgements, the oldest first.

        Args:
            limit: how many, at most; all by default.
            after: the `number` of a judgement; later ones are listed.
            max_bytes: as for `recent`.
        """
        return judging.judgements(self._files, limit, after, max_bytes)
