"""Texts of which every second one is a near-duplicate of the one before."""

import random


def near_copies(n, seed=0):
    """Texts of 60 words, every second one with some words changed."""
    choose = random.Random(seed)
    words = [f"word{i}" for i in range(3000)]
    texts = []
    for i in range(n):
        text = texts[-1].split() if i % 2 else choose.choices(words, k=60)
        for _ in range(choose.randint(0, 4) if i % 2 else 0):
            text[choose.randrange(60)] = choose.choice(words)
        texts.append(" ".join(text))
    return texts
