"""EVALUATE: measure how many near-duplicates a method, a distance or a similarity finds, and at what price."""
