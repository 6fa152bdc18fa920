"""The Hamming index: fingerprints with ids, searched by distance, by any of a family of methods."""

from neardup.index.answers import Groups, IdPairs, IndexInfo, Neighbors
from neardup.index.index import Index
from neardup.index.methods import METHODS

__all__ = ["METHODS", "Groups", "IdPairs", "Index", "IndexInfo", "Neighbors"]
