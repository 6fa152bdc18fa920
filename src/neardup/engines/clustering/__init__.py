"""CLUSTER: survivors and duplicates from matches, in rounds, for a star or for components."""
