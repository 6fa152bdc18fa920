"""Files and columns of fingerprints, of neardup and of other programs."""
