"""SCORES: samples with their truth, and what recall and precision they tell."""
