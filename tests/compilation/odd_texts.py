"""Texts of all kinds of characters and spaces, for kernels of every level."""

import numpy as np

TEXTS = [
    "".join(chr(c) for c in np.random.default_rng(seed).choice([*range(9, 127), 0x3000, 0xFF21, 0x4E2D, 0x1F600, 0xE9], 700))
    for seed in range(40)
] + ["  a  b\tc \n" * 30, "Indented:\n" + "        x = y\n" * 20, " ", ""]  # fmt: skip
