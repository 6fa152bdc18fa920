"""Commands on finished runs, by their summaries."""
