"""Values as texts, and texts that may hold what is no text.

Decoded base64 can be any bytes. While transforms pass them on they stay bytes, as lone surrogates in the
text (Python calls it surrogateescape); nothing outside the chain of transforms may see those.
"""

from __future__ import annotations

from typing import Any

from crossply.values.goformat import sprintf


def text_of(value: Any) -> str:
    """The text that Go prints for a value."""
    return value if type(value) is str else sprintf("%v", (value,))


def valid_text(text: str) -> str:
    """The text with a replacement character for every byte that is no UTF-8, as Go reads and writes it."""
    if text.isascii():
        return text
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
