"""Values of JSON as Python writes them."""

from __future__ import annotations

import json
from typing import Any


def literal(value: Any) -> str:
    """A JSON value as Python writes it."""
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(key)}: {literal(item)}' for key, item in value.items())}}}"
    return repr(value)
