"""Constants that intrinsics and their Python twins share."""

GROUP = 8
"""So many positions are written at a time."""

COLUMNS, ROWS = 8, 16
"""Hashes are counted in so many columns side by side, and in each so many at a time."""
COLUMN_BITS = 7
"""What is left in counters of four bits, of all columns together, has so many bits."""

FIRST_CODE = 0x3000
"""Codes of characters count from this code point, which is no token."""

XXH3_START = (
    *(0xC2B2AE3D, 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9),
    *(0x85EBCA77C2B2AE63, 0x85EBCA77, 0x27D4EB2F165667C5, 0x9E3779B1),
)
"""The accumulators before the first stripe (xxHash 0.8, the section on long inputs)."""
