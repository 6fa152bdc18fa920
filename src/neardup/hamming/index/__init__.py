"""The Hamming index: fingerprints with ids, searched by Hamming distance with one of several methods."""
