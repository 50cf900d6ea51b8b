"""Sprig's checksums."""

from __future__ import annotations

from crossply.functions.builtin.go_templating.sprig.runes import to_bytes


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
