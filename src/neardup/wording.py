"""Numbers in sentences."""


def counted(number: int, noun: str) -> str:
    """`1 pair`, `2,000 pairs`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
