"""The exact similarity join: every pair of sets that are similar enough, by theorem.

Order all elements by how many sets have them, rarest first. Two sets that share as much as is asked share one of their first,
rarest elements, whatever the rest is (Chaudhuri, Ganti and Kaushik 2006); so only these prefixes are indexed, and an element that
one set alone has needs no posting at all.

→ COUNT in how many sets each element occurs      counts.py
→ PREFIX: the rarest elements of each set         prefixes.py
→ JOIN sets whose prefixes meet                   join.py
"""
