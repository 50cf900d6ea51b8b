"""Names for composed resources that are derived from other names."""

from __future__ import annotations

_MAX_LENGTH = 63
_HASH = 5


def child_name(*parts: str, sep: str = "-") -> str:
    """A name of at most 63 characters from the parts and their hash: the same parts give the same name.

    The result is that of `crossplane.function.resource.child_name`.
    """
    from hashlib import sha256

    joined = sep.join(parts)
    beginning = joined[: _MAX_LENGTH - _HASH - 1].rstrip(sep)
    return f"{beginning}{sep}{sha256(joined.encode()).hexdigest()[:_HASH]}"
