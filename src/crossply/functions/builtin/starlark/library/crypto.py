"""The module `crypto`: digests in hexadecimal.

BLAKE3 is computed here, as its specification describes it: https://github.com/BLAKE3-team/BLAKE3-specs.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Callable

from crossply.functions.builtin.starlark.language.arguments import BIG_INT, Signature, optional, required
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.go_strings import to_bytes
from crossply.functions.builtin.starlark.language.values import Builtin, Module, Value, type_name

_HMAC = Signature("crypto.hmac_sha256", required("key"), required("message"))
_STABLE_ID = Signature("crypto.stable_id", required("seed"), optional("length", BIG_INT, 8))
_MAX_LENGTH = 64
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

_Words = tuple[int, ...]


def data_of(function: str, value: Value) -> bytes:
    """The bytes of a string or bytes value."""
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise EvalError(f"{function}: got {type_name(value)}, want string or bytes")
    return to_bytes(value)


def _digest(name: str, digest: Callable[[bytes], bytes]) -> Builtin:
    signature = Signature(name, required("data"))
    return Builtin(name, lambda args, kwargs: digest(data_of(name, signature.bind(args, kwargs)[0])).hex())


def _hmac_sha256(args: tuple[Value, ...], kwargs: dict[str, Value]) -> str:
    key, message = (data_of("crypto.hmac_sha256", value) for value in _HMAC.bind(args, kwargs))
    return hmac.new(key, message, "sha256").hexdigest()


def _stable_id(args: tuple[Value, ...], kwargs: dict[str, Value]) -> str:
    seed, length = _STABLE_ID.bind(args, kwargs)
    data = data_of("crypto.stable_id", seed)
    if not 1 <= length <= _MAX_LENGTH:
        raise EvalError(f"crypto.stable_id: length must be between 1 and {_MAX_LENGTH}, got {length}")
    return hashlib.sha256(data).hexdigest()[:length]


def blake3(data: bytes) -> bytes:
    """The digest of 32 bytes."""
    chunks = [data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK)] or [b""]
    if len(chunks) == 1:
        return _packed(_chunk_value(chunks[0], 0, _ROOT))
    values = [_chunk_value(chunk, number, 0) for number, chunk in enumerate(chunks)]
    return _packed(_tree_value(values, _ROOT))


def _packed(words: _Words) -> bytes:
    return struct.pack("<8I", *words)


def _tree_value(values: list[_Words], flags: int) -> _Words:
    """The value of a tree of chunks. Its left half is the largest power of two that leaves something."""
    if len(values) == 1:
        return values[0]
    left = 1 << ((len(values) - 1).bit_length() - 1)
    block = (*_tree_value(values[:left], 0), *_tree_value(values[left:], 0))
    return _compress(_INITIAL, block, 0, _BLOCK, _PARENT | flags)


def _chunk_value(chunk: bytes, number: int, flags: int) -> _Words:
    blocks = [chunk[start : start + _BLOCK] for start in range(0, len(chunk), _BLOCK)] or [b""]
    value: _Words = _INITIAL
    for index, block in enumerate(blocks):
        block_flags = _CHUNK_START if index == 0 else 0
        if index == len(blocks) - 1:
            block_flags |= _CHUNK_END | flags
        words = struct.unpack("<16I", block.ljust(_BLOCK, b"\0"))
        value = _compress(value, words, number, len(block), block_flags)
    return value


def _compress(chaining: _Words, block: _Words, counter: int, length: int, flags: int) -> _Words:
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


CRYPTO = Module(
    "crypto",
    {
        "sha256": _digest("crypto.sha256", lambda data: hashlib.sha256(data).digest()),
        "sha512": _digest("crypto.sha512", lambda data: hashlib.sha512(data).digest()),
        "sha1": _digest("crypto.sha1", lambda data: hashlib.sha1(data).digest()),
        "md5": _digest("crypto.md5", lambda data: hashlib.md5(data).digest()),
        "blake3": _digest("crypto.blake3", blake3),
        "hmac_sha256": Builtin("crypto.hmac_sha256", _hmac_sha256),
        "stable_id": Builtin("crypto.stable_id", _stable_id),
    },
)
