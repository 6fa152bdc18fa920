"""VERIFY: compute how alike texts are, by one of several similarities.

All similarities compare the tokens of normalized texts: words, and single Han and Kana characters. Texts go through the recipe's
normalizers first, and are then folded (`neardup.text.normalizers.compared_form`), so texts that the recipe makes equal are equal.
A shingle is a window of 3 tokens if it starts with a word, and of 5 if it starts with a Han or Kana character. A text shorter than
one window has one shingle, the whole text. A and B are the shingles of two texts:

- jaccard: |A ∩ B| / |A ∪ B|, of the sets.
- weighted: the sum of the smaller counts of each shingle, divided by the sum of the larger counts. This is the Jaccard coefficient
  of occurrences: the first, second, third … occurrence of a shingle in a text is an element of its own.
- containment: |A ∩ B| / min(|A|, |B|), of the sets: how much of the smaller is in the larger; 0 if one is empty.
- cosine: of the vectors of weights that the recipe gives to its own features.
- edit: 1 - d / n, where d is the fewest tokens to insert, delete or replace (Levenshtein), and n the tokens of the longer text.

Each similarity is exact. It decides by one comparison of float64 numbers, and the bounds of joins
(`neardup.kernels.matching.bounds`) use the same comparison.
"""
