"""HASH → FINGERPRINT: weighted features to SimHash bits."""
