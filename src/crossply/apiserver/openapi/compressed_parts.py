"""Parts of a large document, each compressed by itself, that become one gzip stream without being unpacked.

A part is a piece of a deflate stream that refers to nothing before it and ends at a byte, so parts can be put
one after the other. The checksum of the whole is computed from those of the parts.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import NamedTuple

_LEVEL = 1
_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_LAST_BLOCK = b"\x03\x00"
_POLYNOMIAL = 0xEDB88320
_ONE = 1 << 31


class Part(NamedTuple):
    packed: bytes
    checksum: int
    size: int
    """In bytes, unpacked."""

    def unpacked(self) -> bytes:
        return zlib.decompress(self.packed + _LAST_BLOCK, -zlib.MAX_WBITS)


def pack(data: bytes) -> Part:
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = compressor.compress(data) + compressor.flush(zlib.Z_FULL_FLUSH)
    return Part(packed, zlib.crc32(data), len(data))


def as_gzip(parts: Iterable[Part]) -> bytes:
    """The document of these parts, compressed."""
    pieces, checksum, size = [_HEADER], 0, 0
    for part in parts:
        pieces.append(part.packed)
        checksum = combined(checksum, part.checksum, part.size)
        size += part.size
    return b"".join([*pieces, _LAST_BLOCK, struct.pack("<LL", checksum, size & 0xFFFFFFFF)])


def combined(first: int, second: int, size: int) -> int:
    """The CRC-32 of two pieces of data, from that of each and the size of the second, as in zlib."""
    return _product(_shift(size), first) ^ second


def _product(left: int, right: int) -> int:
    """The product of two polynomials over GF(2), modulo the polynomial of CRC-32."""
    bit, result = _ONE, 0
    while left:
        if left & bit:
            result ^= right
            left ^= bit
        bit >>= 1
        right = (right >> 1) ^ _POLYNOMIAL if right & 1 else right >> 1
    return result


def _powers() -> list[int]:
    """x to the powers of one, two, four, ..."""
    power, powers = _ONE >> 1, []
    for _ in range(64):
        powers.append(power)
        power = _product(power, power)
    return powers


_POWERS = _powers()


def _shift(size: int) -> int:
    """x to the power of the number of bits in so many bytes."""
    result = _ONE
    for position in range(size.bit_length()):
        if size >> position & 1:
            result = _product(_POWERS[position + 3], result)
    return result
