"""Lines that are nearly alike: of a few templates, with some words changed at random places."""

import random

VOCABULARY = [f"word{i}" for i in range(3000)]
SHAPES = ["inserted", "replaced", "deleted", "moved"]


def dense_lines(count, shape, seed=1, *, words=57, changes=3, templates=1):
    """Lines of a few templates, each with some words inserted, replaced, deleted or moved at random places."""
    choose = random.Random(seed)
    bases = [choose.sample(VOCABULARY, words) for _ in range(templates)]
    lines = []
    for _ in range(count):
        line = list(choose.choice(bases))
        for _ in range(changes):
            place = choose.randrange(len(line))
            if shape == "inserted":
                line.insert(place, str(choose.randrange(10**6)))
            elif shape == "replaced":
                line[place] = choose.choice(VOCABULARY)
            else:
                word = line.pop(place)
                if shape == "moved":
                    line.insert(choose.randrange(len(line)), word)
        lines.append(" ".join(line))
    return lines
