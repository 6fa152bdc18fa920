"""FILES that a recipe names, or that stand behind one: dictionaries, stop words, document frequencies, TOML; their
contents decide bits.
"""
