"""The record: what is known of documents, in SQLite, and the transactions that change it."""
