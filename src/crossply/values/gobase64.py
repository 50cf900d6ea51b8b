"""Standard base64 as Go decodes it: line breaks are skipped, and an error says at which byte."""

from __future__ import annotations

from base64 import b64decode
from binascii import a2b_base64

from crossply.errors import CrossplyError

_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_BREAKS = frozenset(b"\r\n")
_PAD = ord("=")


class Base64Error(CrossplyError):
    """A text that should be base64 is not."""

    code = "CP-124"
    hint = "encode the value with base64, for example: printf %s VALUE | base64"


def decode(text: str) -> bytes:
    """Decode a text."""
    offset = bad_offset(text)
    if offset is not None:
        raise Base64Error(f"illegal base64 data at input byte {offset}")
    return b64decode(text)


def decode_prefix(text: str) -> bytes:
    """Decode a text up to where it stops being base64."""
    offset = bad_offset(text)
    return b64decode(text if offset is None else text[: offset // 4 * 4])


def bad_offset(text: str) -> int | None:
    """At which byte the text stops being base64; None when it is base64 to its end."""
    if _is_plain(text):
        return None
    data = text.encode("utf-8", "surrogatepass")
    in_quantum = 0
    for at, byte in enumerate(data):
        if byte in _ALPHABET:
            in_quantum = (in_quantum + 1) % 4
        elif byte == _PAD:
            return _bad_padding(data, at, in_quantum)
        elif byte not in _BREAKS:
            return at
    return len(data) - in_quantum if in_quantum else None


def _is_plain(text: str) -> bool:
    """Whether a text is base64 without line breaks: decoding it is quicker than looking at every byte."""
    if len(text) % 4 or text.endswith("==="):
        return False
    try:
        a2b_base64(text, strict_mode=True)
    except ValueError:
        return False
    return True


def _bad_padding(data: bytes, at: int, in_quantum: int) -> int | None:
    """Padding ends the text: one sign after three characters, two after two."""
    if in_quantum < 2:
        return at
    after = _skip_breaks(data, at + 1)
    if in_quantum == 2:
        if after == len(data):
            return len(data)
        if data[after] != _PAD:
            return after - 1
        after = _skip_breaks(data, after + 1)
    return after if after < len(data) else None


def _skip_breaks(data: bytes, at: int) -> int:
    while at < len(data) and data[at] in _BREAKS:
        at += 1
    return at
