"""The commands of the stages of a run, on parts of a corpus: fingerprints, pairs, clusters, survivors, and Hamming indexes."""
