"""What tests of stores in PostgreSQL need."""

from shared_stores import cache, own_server, place, schema, server

__all__ = ["cache", "own_server", "place", "schema", "server"]
