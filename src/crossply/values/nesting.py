"""How deep values nest."""

from __future__ import annotations

from typing import Any


def nests_deeper(value: Any, limit: int) -> bool:
    """Whether dicts and lists nest deeper than `limit` levels; computed without recursion."""
    level = [value] if type(value) in (dict, list) else []
    for _ in range(limit):
        if not level:
            return False
        level = [
            child
            for item in level
            for child in (item.values() if type(item) is dict else item)
            if type(child) in (dict, list)
        ]
    return bool(level)
