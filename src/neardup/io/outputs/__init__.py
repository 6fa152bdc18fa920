"""OUTPUTS: files that appear whole or not at all, and how they are named."""
