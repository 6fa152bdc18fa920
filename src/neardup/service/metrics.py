"""METRICS of a service, for Prometheus. Labels are names of stores and routes, and statuses; never ids or texts."""

from collections import Counter as Counts
from collections.abc import Sequence
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from neardup.store.answers import StoreAnswer

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class StoreMetrics:
    """The metrics of one store."""

    def __init__(self, metrics: "Metrics", name: str) -> None:
        self.ready = metrics.ready.labels(name)
        self.documents = metrics.documents.labels(name)
        self.waiting = metrics.waiting.labels(name)
        self.checked = metrics.checked.labels(name)
        self.failures = metrics.failures.labels(name)
        self.expired = metrics.expired.labels(name)
        self.orphaned = metrics.orphaned.labels(name)
        self._new, self._updates, self._duplicates = (
            metrics.added.labels(name, outcome) for outcome in ("new", "update", "duplicate")
        )
        self._sizes, self._seconds = metrics.sizes.labels(name), metrics.seconds.labels(name)

    def committed(self, answers: Sequence[StoreAnswer], seconds: float) -> None:
        """Count a commit of the documents with these answers."""
        counts = Counts(answer.status for answer in answers)
        self._new.inc(counts["new"])
        self._updates.inc(counts["updated"])
        self._duplicates.inc(counts["duplicate"] + counts["unchanged"])
        self._sizes.observe(len(answers))
        self._seconds.observe(seconds)


class Metrics:
    """All metrics of a service."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        counter = partial(Counter, registry=registry)
        gauge = partial(Gauge, labelnames=["store"], registry=registry)
        histogram = partial(Histogram, registry=registry)
        self.requests = counter("neardup_requests", "Requests by route and status.", ["route", "status"])
        self.latency = histogram(
            "neardup_request_seconds", "Seconds from the headers of a request to the end of its response.", ["route"],
            buckets=_SECONDS,
        )  # fmt: skip
        self.running = Gauge("neardup_requests_running", "Requests that are being answered.", registry=registry)
        self.ready = gauge("neardup_store_ready", "1 if a store can be used; 0 if it or its database has failed.")
        self.documents = gauge("neardup_store_documents", "Documents that a store keeps.")
        self.waiting = gauge("neardup_store_waiting_documents", "Documents that wait for a store.")
        self.checked = counter("neardup_store_checks", "Texts that were asked about.", ["store"])
        self.failures = counter("neardup_store_failures", "Calls of a store that failed.", ["store"])
        self.expired = counter(
            "neardup_store_expired", "Documents that the service removed as they expired.", ["store"]
        )
        self.orphaned = counter(
            "neardup_store_orphaned", "Skipped documents that lost their kept document as it expired.", ["store"]
        )
        self.added = counter("neardup_store_added", "Documents that were decided.", ["store", "outcome"])
        self.sizes = histogram("neardup_commit_documents", "Documents that share a commit.", ["store"], buckets=_SIZES)
        self.seconds = histogram(
            "neardup_commit_seconds", "Seconds that deciding documents and making them durable takes.", ["store"],
            buckets=_SECONDS,
        )  # fmt: skip

    def text(self) -> bytes:
        return generate_latest(self.registry)
