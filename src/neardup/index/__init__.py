"""The Hamming index: fingerprints with ids, searched by distance, by any of a family of methods."""

from neardup.index.answers import IdPairs, IndexInfo, Neighbors
from neardup.index.index import Index
from neardup.index.methods import METHODS

__all__ = ["METHODS", "IdPairs", "Index", "IndexInfo", "Neighbors"]
