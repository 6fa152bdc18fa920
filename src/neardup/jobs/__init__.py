"""What the commands do with files, for Python callers too: files in, files out, all or nothing."""
