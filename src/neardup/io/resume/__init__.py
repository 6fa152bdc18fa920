"""RESUME: what a run saves, so that the same command continues it."""
