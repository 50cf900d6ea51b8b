"""SHA-256 digests of bytes, and of values by their canonical JSON."""

from __future__ import annotations

from typing import Any

from crossply.values.gojson import dumps


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of bytes as 64 lower-case hexadecimal digits."""
    import hashlib

    return hashlib.sha256(data).hexdigest()


def of_value(value: Any) -> str:
    """Return the SHA-256 of a JSON value: the same for equal values, whatever the order of their keys."""
    return sha256_hex(dumps(value).encode())
