"""How programs write fingerprints, with Python's own numbers: the definition of `neardup.fingerprints.files.digits`."""

import numpy as np


def written(number, digits, bits):
    """A number below 2^bits as digits or bytes."""
    if digits == "decimal":
        return str(number)
    if digits == "signed":
        return str(number - (1 << bits) if number >> (bits - 1) else number)
    if digits == "hexadecimal":
        return f"{number:0{(bits + 3) // 4}x}"
    if digits == "binary":
        return f"{number:0{bits}b}"
    return number.to_bytes((bits + 7) // 8, "big")


def words(numbers, bits):
    """Numbers as uint64[n], or uint64[n, words] above 64 bits."""
    count = (bits + 63) // 64
    rows = [[number >> 64 * (count - 1 - k) & (1 << 64) - 1 for k in range(count)] for number in numbers]
    found = np.array(rows, np.uint64).reshape(len(numbers), count)
    return found[:, 0] if count == 1 else found
