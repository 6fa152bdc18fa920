"""The exact similarity join: provably every pair of sets that are similar enough.

Order all elements by how many sets have them, rarest first. Two sets that share enough elements share one of their first, rarest
elements, whatever the others are (Chaudhuri, Ganti and Kaushik 2006). So only these prefixes are indexed, and an element of a
single set needs no posting at all.

→ COUNT in how many sets each element occurs      counts.py
→ PREFIX: the rarest elements of each set         prefixes.py
→ JOIN sets whose prefixes meet                   join.py
"""
