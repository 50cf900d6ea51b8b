"""Names that Kubernetes accepts, made of the names that images and packages have."""

from __future__ import annotations

_LONGEST_LABEL = 63
_LONGEST_NAME = 50
_LONGEST_ID = 12
_SEPARATORS = frozenset(".:/-")


def to_dns_label(text: str) -> str:
    """A DNS label of a name: separators become hyphens, what a label cannot hold is left out.

    Only the first 63 bytes are looked at, and no separator at either end of them is kept.
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
    """A name people recognise and that is still unique: the name, and the beginning of an identity."""
    return to_dns_label(f"{name[:_LONGEST_NAME]}-{identity[:_LONGEST_ID]}")
