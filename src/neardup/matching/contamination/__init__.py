"""CONTAMINATION: which items of benchmarks a document holds, or nearly holds; one-sided, unlike similarities.

An item is in a document if one part of the document has a share of the item's shingles, or if the two have a long run of tokens
in common. Takes texts; gives the items of each document, with the share, the run and the matched text. May import what is below
`neardup.survivors`.

- Shingles are windows of 3 tokens where they start with a word, and of 5 where they start with a Han or Kana character.
- The share is that of the item's distinct shingles which start within 2 n consecutive tokens of the document, where n is the number
  of tokens of the item; of all such parts, the largest. So shingles that are strewn over a book do not add up.
- Documents and items are read as they stand, and without markup: `readings.py`.
- The run is the longest sequence of tokens that stands in both; fewer than 5 tokens are none.
"""
