"""The folder of an index: segment files, the manifest, and the recipe of the fingerprints."""
