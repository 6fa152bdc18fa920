"""What tests of stores in PostgreSQL need."""

from shared_stores import any_place, back_end, cache, own_server, place, schema, server

__all__ = ["any_place", "back_end", "cache", "own_server", "place", "schema", "server"]
