"""The work of `neardup store` on files."""
