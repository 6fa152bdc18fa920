"""WARC: archives of web pages; records are found by their declared lengths, and what is kept is copied byte for byte."""
