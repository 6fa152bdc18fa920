"""An operator for data-juicer: near-duplicates removed by verified similarity, on Ray as on one machine.

    import neardup.integrations.data_juicer   # registers the operator

    process:
      - neardup_deduplicator:
          id_key: id
          order_keys: [id]
          options: {method: exact, min_similarity: 0.8}

With `executor_type: ray`, the operator is `neardup.ray.deduplicate`; else `neardup.deduplicate`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from data_juicer.ops.base_op import OPERATORS, Deduplicator

import neardup

TESTED = "1.6.1"
"""The version of data-juicer that this was tested with."""


@OPERATORS.register_module("neardup_deduplicator")
class NeardupDeduplicator(Deduplicator):  # type: ignore[misc]
    """Removes near-duplicates: every pair of texts that are similar enough is found, with `method: exact`."""

    _supported_exec_modes = ("default", "ray")

    def __init__(
        self,
        id_key: str = "id",
        order_keys: Sequence[str] = (),
        work: str | None = None,
        options: Mapping[str, Any] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """See `neardup.ray.deduplicate`.

        Args:
            id_key: the field of the ids.
            order_keys: on Ray, the fields by which samples are in order; by default, that of the ids.
            work: on Ray, the folder that all nodes share.
            options: those of `neardup.deduplicate`: method, min_similarity, keep …
            *args, **kwargs: of all operators, such as `text_key`.
        """
        super().__init__(*args, **kwargs)
        self.id_key, self.order_keys, self.folder = id_key, list(order_keys) or [id_key], work
        self.options = {"method": "exact", **(options or {})}

    def run(self, dataset: Any, *, exporter: Any = None, tracer: Any = None, reduce: bool = True) -> Any:  # noqa: ARG002
        """The samples that stay: of a Dataset of Ray, or of Hugging Face."""
        if hasattr(dataset, "map_batches"):
            from neardup import ray

            given = {"text": self.text_key, "id": self.id_key, "order": self.order_keys, "work": self.folder}
            return ray.deduplicate(dataset, **given, **self.options).survivors
        columns = dataset.select_columns([self.text_key]).with_format("arrow")[:]
        found = neardup.deduplicate(columns, text=self.text_key, **self.options)
        return dataset.select(found.kept.nonzero()[0])

    def process(self, dataset: Any, show_num: int = 0) -> tuple[Any, dict[str, Any]]:  # noqa: ARG002
        """The samples that stay, and no pairs to trace."""
        return self.run(dataset), {}
