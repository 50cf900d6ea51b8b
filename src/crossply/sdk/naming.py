"""Names for composed resources that are made of other names."""

from __future__ import annotations

_LONGEST = 63
_HASH = 5


def child_name(*parts: str, sep: str = "-") -> str:
    """A name of at most 63 characters, made of the parts and a hash of them: the same parts, the same name.

    It is the name that `crossplane.function.resource.child_name` gives.
    """
    from hashlib import sha256

    whole = sep.join(parts)
    beginning = whole[: _LONGEST - _HASH - 1].rstrip(sep)
    return f"{beginning}{sep}{sha256(whole.encode()).hexdigest()[:_HASH]}"
