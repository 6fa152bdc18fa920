"""HASH → FINGERPRINT: weighted features to SimHash bits, sets of shingles to MinHash signatures."""
