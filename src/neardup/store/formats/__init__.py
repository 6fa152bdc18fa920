"""The files of a store beside its record: contents and segments, and their versions. docs/formats/store.md describes them."""
