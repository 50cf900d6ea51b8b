"""How much YAML is read before it is called an attack.

Go bounds depth at 10,000 levels. Ours is lower because the values travel through recursive Python code
(copying, comparing, printing), which must never meet the interpreter's recursion limit.
"""

from __future__ import annotations

MAX_BYTES = 32 * 1024 * 1024
"""The longest stream; a bigger one is refused before its first byte is parsed."""

MAX_DEPTH = 256
"""The deepest nesting of one document, aliases expanded."""

MAX_DOCUMENTS = 20_000
"""The most documents in one stream: more take seconds to read, and no file of manifests has as many."""

MAX_NODES = 2_000_000
"""The most nodes (keys and values) in one stream."""

ALIAS_RATIO_LOW = 400_000
"""Up to this many decoded nodes 99% may come from aliases …"""

ALIAS_RATIO_HIGH = 4_000_000
"""… and from this many on only 10%; in between the share shrinks steadily (go-yaml's rule)."""


def excessive_aliasing(decoded: int, from_aliases: int) -> bool:
    """Return whether too large a share of the nodes decoded so far came from aliases."""
    if from_aliases <= 100 or decoded <= 1000:
        return False
    return from_aliases / decoded > _allowed_alias_ratio(decoded)


def _allowed_alias_ratio(decoded: int) -> float:
    if decoded <= ALIAS_RATIO_LOW:
        return 0.99
    if decoded >= ALIAS_RATIO_HIGH:
        return 0.10
    return 0.99 - 0.89 * (decoded - ALIAS_RATIO_LOW) / (ALIAS_RATIO_HIGH - ALIAS_RATIO_LOW)
