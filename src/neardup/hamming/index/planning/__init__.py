"""PLAN: what each method of Hamming search costs, and which one is chosen."""
