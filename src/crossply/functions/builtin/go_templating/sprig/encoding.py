"""base64, base32 and checksums. As in sprig, invalid input of a decoder returns the error as text."""

from __future__ import annotations

from crossply.functions.builtin.go_templating.sprig.runes import to_bytes, to_text
from crossply.values.gobase64 import Base64Error, decode

_BASE32 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAD = ord("=")


def b64enc(text: str) -> str:
    """Encode as base64."""
    from base64 import b64encode

    return b64encode(to_bytes(text)).decode()


def b64dec(text: str) -> str:
    """Decode base64."""
    try:
        return to_text(decode(text))
    except Base64Error as error:
        return str(error)


def b32enc(text: str) -> str:
    """Encode as base32."""
    from base64 import b32encode

    return b32encode(to_bytes(text)).decode()


def b32dec(text: str) -> str:
    """Decode base32."""
    from base64 import b32decode

    data = to_bytes(text).translate(None, b"\r\n")
    length, bad = _digits_before_padding(data)
    if bad is not None:
        return f"illegal base32 data at input byte {bad}"
    return to_text(b32decode(data[:length].ljust((length + 7) // 8 * 8, b"=")))


def _digits_before_padding(data: bytes) -> tuple[int, int | None]:
    """How many digits there are; and at which byte Go stops, if it does."""
    for at, byte in enumerate(data):
        in_group = at % 8
        if byte == _PAD and in_group >= 2 and len(data) - at <= 8:
            return at, _bad_padding(data, at, in_group)
        if byte not in _BASE32:
            return at, at
    return len(data), None if len(data) % 8 == 0 else len(data) - len(data) % 8


def _bad_padding(data: bytes, at: int, in_group: int) -> int | None:
    """At which byte the padding that begins at `at` is wrong."""
    expected = 8 - in_group
    if len(data) - at < expected:
        return len(data)
    for offset in range(1, expected):
        if data[at + offset] != _PAD:
            return at + offset - 1
    return at if in_group in (1, 3, 6) else None


def sha1sum(text: str) -> str:
    """SHA-1, in hexadecimal."""
    from hashlib import sha1

    return sha1(to_bytes(text), usedforsecurity=False).hexdigest()


def sha256sum(text: str) -> str:
    """SHA-256, in hexadecimal."""
    from hashlib import sha256

    return sha256(to_bytes(text)).hexdigest()


def sha512sum(text: str) -> str:
    """SHA-512, in hexadecimal."""
    from hashlib import sha512

    return sha512(to_bytes(text)).hexdigest()


def adler32sum(text: str) -> str:
    """Adler-32, in decimal."""
    from zlib import adler32

    return str(adler32(to_bytes(text)))
