"""A transformer for scikit-learn: the bits of SimHash fingerprints as features.

    make_pipeline(FingerprintTransformer(recipe="near-64"), KNeighborsClassifier(metric="hamming"))

It learns nothing, so it makes the same of a text in every fold. To keep near-duplicates in one fold, use `neardup.GroupSplitter`.
"""

from typing import Any, Literal, Self

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.fingerprints.simhash import fingerprint
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.stored_parts import check_installed

check_installed("neardup.integrations.sklearn", ("scikit-learn",), "sklearn")

from sklearn.base import BaseEstimator, TransformerMixin  # noqa: E402

TESTED = "1.9.1"
"""The version of scikit-learn that this was tested with."""
Output = Literal["bits", "words"]


class FingerprintTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Texts to fingerprints.

    Args:
        recipe: defines the fingerprint; `Recipe()` by default, which has 128 bits.
        output: "bits": uint8[n, bits] of 0 and 1, the most significant first, for which the metric "hamming" is the share of bits
            that differ; "words": uint64[n, words], which are no quantities.
        text: the column of the texts, if X is a table.
    """

    def __init__(self, *, recipe: RecipeLike | None = None, output: Output = "bits", text: str = "text") -> None:
        self.recipe, self.output, self.text = recipe, output, text

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803, ARG002 - scikit-learn's names
        """Check the parameters; nothing is learned."""
        self._columns()
        return self

    def transform(self, X: Any) -> Array:  # noqa: N803
        """The fingerprints of texts: a list, a column, or a table.

        Raises:
            OptionError: X holds something other than strings, or a parameter has a value that is not allowed.
            DataError: a text is null, or not valid Unicode.
        """
        names = self._columns()
        if isinstance(X, np.ndarray) and X.ndim != 1:
            raise OptionError(f"X has {X.ndim} dimensions. Give one text for each row: `X[:, 0]`.")
        used = recipe_of(self.recipe)
        found = fingerprint(X, text=self.text, recipe=used).reshape(-1, used.words)
        if self.output == "words":
            return found
        bits = np.unpackbits(found.astype(">u8").view(np.uint8).reshape(len(found), 8 * used.words), axis=1)
        return bits[:, bits.shape[1] - len(names) :]

    def get_feature_names_out(self, input_features: Any = None) -> Array:  # noqa: ARG002
        """The names of the columns of the output: bit0, bit1 … or word0 …"""
        return np.array(self._columns(), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False, True
        return tags

    def _columns(self) -> list[str]:
        if self.output not in ("bits", "words"):
            raise OptionError(f"`output={self.output!r}`: give 'bits' or 'words'.")
        used = recipe_of(self.recipe)
        return (
            [f"bit{i}" for i in range(used.bits)] if self.output == "bits" else [f"word{i}" for i in range(used.words)]
        )
