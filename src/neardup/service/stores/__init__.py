"""The stores that a service holds open, the thread that calls each, and what waits for it."""
