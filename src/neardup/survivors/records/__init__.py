"""RECORD: audits, annotations, cluster files and summaries, with their schemas."""
