"""RUN AGAIN what a summary records, into a place of its own, and compare the bytes."""
