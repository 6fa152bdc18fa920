"""RECIPE: the values that decide a fingerprint's bits.

In: what a caller, a TOML file or a file of fingerprints says. Out: a `Recipe` that is checked, its digest, what two differ in.
`parts.py` has what a recipe may name; the files that it names are read here, once; no stage runs here.
Beside it, `similarities.py` and `methods.py`: a row for each similarity and each method of finding candidates, by name.
None of it loads compiled code, so that commands can list and check what there is at once.
May import: errors, arrays, display.
"""
