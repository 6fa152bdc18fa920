"""REQUESTS: bodies, streams of lines, and what each route does with them."""
