"""RECIPE: the values that decide a fingerprint's bits.

In: the fields of a recipe from a caller, a TOML file or a fingerprint file. Out: a checked `Recipe`, its digest, and the
differences between two recipes.
`parts.py` lists the names that a recipe may use. The files that a recipe names are read here, once. No stage runs here.
`similarities.py` and `methods.py` have a row for each similarity and for each method of finding candidates.
No module here loads compiled code, so commands list and check options without delay.
May import: errors, arrays, display.
"""
