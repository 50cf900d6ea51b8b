"""Copies of bytes that take no more memory than they need.

The buffer that orjson writes into is never shrunk: three hundred bytes of JSON hold on to eight thousand.
"""

from __future__ import annotations


def compact_bytes(data: bytes) -> bytes:
    return bytes(memoryview(data))
