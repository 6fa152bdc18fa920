"""SIDE BY SIDE: two texts aligned by their tokens, in rows that show what differs."""
