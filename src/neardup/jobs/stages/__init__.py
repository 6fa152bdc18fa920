"""The stages of a run, each from files to files."""
