"""RECIPE: the values that decide a fingerprint's bits.

In: the fields of a recipe from a caller, a TOML file or a fingerprint file. Out: a checked `Recipe`, its digest, and the
differences between two recipes.
`tables/` has the names that a recipe and options may use, a row for each: parts of a recipe, similarities, methods, rules of
preference. `files/` reads the files that a recipe names, once. No stage runs here.
No module here loads compiled code, so commands list and check options without delay.
May import: errors, arrays, display.
"""
