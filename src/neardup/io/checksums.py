"""The checksum of plain values, as JSON has them, however they are formatted."""

import json
import zlib
from typing import Any


def checksum(values: Any) -> int:
    """The CRC-32 of the values as JSON with sorted keys."""
    return zlib.crc32(json.dumps(values, sort_keys=True).encode("ascii"))
