"""Kubernetes names from the names of images and packages."""

from __future__ import annotations

_LONGEST_LABEL = 63
_LONGEST_NAME = 50
_LONGEST_ID = 12
_SEPARATORS = frozenset(".:/-")


def to_dns_label(text: str) -> str:
    """A DNS label: separators become hyphens, invalid characters are dropped.

    Only the first 63 bytes count, and separators at both ends of them are dropped.
    """
    data = text.encode("utf-8", "replace")[:_LONGEST_LABEL]
    chars = []
    for position, char in enumerate(map(chr, data)):
        if ("a" <= char <= "z") or ("0" <= char <= "9"):
            chars.append(char)
        elif char in _SEPARATORS and 0 < position < min(len(data), _LONGEST_LABEL) - 1:
            chars.append("-")
    return "".join(chars).strip("-")


def friendly_id(name: str, identity: str) -> str:
    """A name that is recognisable and still unique: the name, and the beginning of an identity."""
    return to_dns_label(f"{name[:_LONGEST_NAME]}-{identity[:_LONGEST_ID]}")
