"""BLAKE3, the hash, as its specification describes it: https://github.com/BLAKE3-team/BLAKE3-specs."""

from __future__ import annotations

import struct

_INITIAL = (
    *(0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A),
    *(0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19),
)
_PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
_QUARTERS = (
    *((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)),
    *((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)),
)
_ROUNDS = 7
_BLOCK, _CHUNK = 64, 1024
_CHUNK_START, _CHUNK_END, _PARENT, _ROOT = 1, 2, 4, 8
_MASK = 0xFFFFFFFF

Words = tuple[int, ...]


def blake3(data: bytes) -> bytes:
    """The digest of 32 bytes."""
    chunks = [data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK)] or [b""]
    if len(chunks) == 1:
        return _packed(_chunk_value(chunks[0], 0, _ROOT))
    values = [_chunk_value(chunk, number, 0) for number, chunk in enumerate(chunks)]
    return _packed(_tree_value(values, _ROOT))


def _packed(words: Words) -> bytes:
    return struct.pack("<8I", *words)


def _tree_value(values: list[Words], flags: int) -> Words:
    """The value of a tree of chunks. Its left half is the largest power of two that leaves something."""
    if len(values) == 1:
        return values[0]
    left = 1 << ((len(values) - 1).bit_length() - 1)
    block = (*_tree_value(values[:left], 0), *_tree_value(values[left:], 0))
    return _compress(_INITIAL, block, 0, _BLOCK, _PARENT | flags)


def _chunk_value(chunk: bytes, number: int, flags: int) -> Words:
    blocks = [chunk[start : start + _BLOCK] for start in range(0, len(chunk), _BLOCK)] or [b""]
    value: Words = _INITIAL
    for index, block in enumerate(blocks):
        block_flags = _CHUNK_START if index == 0 else 0
        if index == len(blocks) - 1:
            block_flags |= _CHUNK_END | flags
        words = struct.unpack("<16I", block.ljust(_BLOCK, b"\0"))
        value = _compress(value, words, number, len(block), block_flags)
    return value


def _compress(chaining: Words, block: Words, counter: int, length: int, flags: int) -> Words:
    state = [*chaining, *_INITIAL[:4], counter & _MASK, counter >> 32, length, flags]
    words = block
    for round_number in range(_ROUNDS):
        for index, quarter in enumerate(_QUARTERS):
            _mix(state, quarter, words[2 * index], words[2 * index + 1])
        if round_number < _ROUNDS - 1:
            words = tuple(words[index] for index in _PERMUTATION)
    return tuple(state[index] ^ state[index + 8] for index in range(8))


def _mix(state: list[int], quarter: tuple[int, int, int, int], first: int, second: int) -> None:
    a, b, c, d = quarter
    for word, (turn_d, turn_b) in ((first, (16, 12)), (second, (8, 7))):
        state[a] = (state[a] + state[b] + word) & _MASK
        state[d] = _rotated(state[d] ^ state[a], turn_d)
        state[c] = (state[c] + state[d]) & _MASK
        state[b] = _rotated(state[b] ^ state[c], turn_b)


def _rotated(word: int, count: int) -> int:
    return (word >> count | word << (32 - count)) & _MASK
