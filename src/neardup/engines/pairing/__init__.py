"""PAIR: documents that share a key become candidates, group by group; large groups in blocks."""
