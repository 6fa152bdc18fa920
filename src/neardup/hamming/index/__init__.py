"""The Hamming index: fingerprints with ids, searched by distance, by any of a family of methods."""
