"""Property names as CEL expressions write them: `a-b` is `a__dash__b`, `namespace` is `__namespace__`."""

from __future__ import annotations

import re

from crossply.values.short_texts import cached_for_short_texts

_RESERVED = re.compile(
    "true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace"
    "|return|var|void|while"
)
_SPECIAL = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}


@cached_for_short_texts(4096)
def escape(name: str) -> str | None:
    """Return a property's name in expressions, or None when expressions cannot reach it."""
    if _RESERVED.fullmatch(name):
        return f"__{name}__"
    if not re.fullmatch(r"[A-Za-z_./-][A-Za-z0-9_./-]*", name):
        return None
    return re.sub(r"__|[./-]", lambda found: _SPECIAL[found[0]], name)
