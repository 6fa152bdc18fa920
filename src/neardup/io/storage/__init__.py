"""STORAGE: bytes of files on disks and in object stores, compressed and encoded in whatever way."""
