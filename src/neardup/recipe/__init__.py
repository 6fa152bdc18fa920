"""RECIPE: all that decides a fingerprint's bits.

`parts.py` has what a recipe may name, `recipe.py` the recipe, `problems.py` and `named_files.py` what is checked and read when one
is made, `named.py` recipes by name and in files, `stored.py` those that come with fingerprints. None of it loads compiled code.
"""
