"""STORAGE: bytes of files on disks and in object stores, with any compression and encoding."""
