"""Filters: documents pass one after another, and what is new is remembered in an index or in a store."""
