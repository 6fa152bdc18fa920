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


BEGINNINGS = ("the ferry", "a clock", "the old bridge", "der Zug", "河上的石桥", "図書館の猫", "春茶", "駅前の本屋")
MIDDLES = (
    "leaves at",
    "was built in",
    "stands beside",
    "fährt nach",
    "建于",
    "毎朝見ている",
    "只取一芽一叶",
    "閉まるのは",
)


def edited_copies(families, seed=0):
    """Texts in four languages, in families of copies that were edited more and more, from one word to half of the sentences."""
    choose = random.Random(seed)

    def sentence():
        words = [choose.choice(BEGINNINGS), choose.choice(MIDDLES), *(f"{choose.randrange(9999)}" for _ in range(3))]
        return f"{' '.join(words)}{choose.choice(['.', '。', '!'])}"

    texts = []
    for _ in range(families):
        sentences = [sentence() for _ in range(choose.randint(8, 40))]
        for _ in range(choose.randint(1, 5)):
            texts.append(" ".join(sentences))
            for _ in range(choose.randint(0, 3)):
                sentences[choose.randrange(len(sentences))] = sentence()
    choose.shuffle(texts)
    return texts
