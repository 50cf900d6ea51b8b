"""What Go's mail.ParseAddress accepts: `a@example.org` or `A Name <a@example.org>`."""

from __future__ import annotations

import re

_LETTER = r"A-Za-z0-9!#$%&'*+\-/=?^_`{|}~\x80-\U0010ffff"
_DOT_ATOM = rf"[{_LETTER}]+(?:\.[{_LETTER}]+)*"
_QUOTED = r'"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[\t -~])*"'
_SPEC = re.compile(rf"(?:{_DOT_ATOM}|{_QUOTED})[ \t]*@[ \t]*(?:{_DOT_ATOM}|\[[0-9A-Fa-f:.]+\])[ \t]*")
_NAME = re.compile(rf"(?:{_QUOTED}|[{_LETTER}. \t])*")


def is_address(text: str) -> bool:
    """Tell whether a text is one mail address, with or without a display name."""
    bare = text.strip(" \t")
    if not bare.endswith(">"):
        return _SPEC.fullmatch(bare) is not None
    name, bracket, address = bare[:-1].rpartition("<")
    return bool(bracket) and _NAME.fullmatch(name) is not None and _SPEC.fullmatch(address) is not None
