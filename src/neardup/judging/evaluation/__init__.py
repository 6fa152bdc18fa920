"""EVALUATE: how much of what is near a method, a distance or a similarity finds, and at what price."""

SAMPLE = 4000
"""Documents that are compared with all others, by default: some 12 s of one thread for a million documents and a recipe."""
