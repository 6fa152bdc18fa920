"""RECIPE: the values that decide a fingerprint's bits.

In: what a caller, a TOML file or a file of fingerprints says. Out: a `Recipe` that is checked, its digest, what two differ in.
`parts.py` has what a recipe may name; the files that it names are read here, once; no stage runs here.
None of it loads compiled code, so that commands can list and check recipes at once.
May import: errors, arrays, display.
"""
