"""VERIFY: how alike texts are, by one of several similarities.

All compare texts after normalization, by their tokens: words, and Han and Kana characters one by one. A shingle is a window of 3
tokens from one that is a word, of 5 from one that is a Han or Kana character; a text shorter than one window has one shingle, all
of it. A and B are the shingles of two texts:

- jaccard: |A ∩ B| / |A ∪ B|, of the sets.
- weighted: the sum of the smaller counts of each shingle by the sum of the larger ones. This is the Jaccard coefficient of
  occurrences: the first, second, third … of a shingle in a text is an element of its own.
- containment: |A ∩ B| / min(|A|, |B|), of the sets: how much of the smaller is in the larger; 0 if one is empty.
- cosine: of the vectors of weights that the recipe gives to its own features.
- edit: 1 - d / n, d being the fewest tokens to insert, delete or replace (Levenshtein), n the tokens of the longer text.

Each is exact, and decides by one comparison of float64 numbers, which the bounds of joins (`neardup.kernels.matching.bounds`)
repeat.
"""
