"""A SESSION: an open store, as a reader or as the one writer, and how it is opened and created."""
