"""A text in an address, so that what is in a playground can be sent as a link."""

from __future__ import annotations

import base64
import binascii
import zlib

from crossply.ui.playground.typed_resource import MAX_TEXT

MAX_PACKED = 4000
"""Characters of an address that a text may take."""


def pack_text(text: str) -> str | None:
    """The text for an address; None where it would be too long."""
    packed = base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).rstrip(b"=").decode()
    return packed if len(packed) <= MAX_PACKED else None


def unpack_text(packed: str) -> str | None:
    """The text of an address; None where it is none."""
    if not packed or len(packed) > MAX_PACKED:
        return None
    try:
        data = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
        return zlib.decompressobj().decompress(data, MAX_TEXT).decode() or None
    except (binascii.Error, zlib.error, ValueError):
        return None
