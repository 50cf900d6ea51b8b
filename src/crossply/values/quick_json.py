"""JSON by orjson where that is loaded already, and else by the standard library, with the same result.

Importing orjson takes longer than starting Python, which a command that writes one small document should not
pay for. What the two read or write differently is left to orjson: long numbers, NaN and invalid Unicode.
"""

from __future__ import annotations

import re
import sys
from typing import Any

_LONG_NUMBER = re.compile(r"[0-9]{19}")
_LONG_NUMBER_IN_BYTES = re.compile(rb"[0-9]{19}|NaN|Infinity")


def dumps(value: Any, *, sort_keys: bool = False) -> bytes:
    """Compact JSON; raises TypeError for what JSON cannot express."""
    if "orjson" not in sys.modules:
        import json

        try:
            text = json.dumps(
                value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=sort_keys
            )
            if not _LONG_NUMBER.search(text):
                return text.encode()
        except (ValueError, TypeError, RecursionError):
            pass
    import orjson

    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else 0)


def loads(data: bytes) -> Any:
    """Read JSON; raises ValueError with the message of orjson."""
    if "orjson" not in sys.modules and not _LONG_NUMBER_IN_BYTES.search(data):
        import json

        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            pass
    import orjson

    return orjson.loads(data)
