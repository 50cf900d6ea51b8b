"""The two protobuf messages of the KCL core that run a program, without the protobuf library.

A worker imports this to start, so it also does without our own encoder of Structs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crossply.functions.builtin.kcl.worker_program_marshal import Program

_LENGTH_DELIMITED = 2
_ERROR = b"ERROR:"
_JSON_RESULT, _PROBLEM = 1, 4

FLAG_FIELDS = {
    "strictRangeCheck": 8,
    "disableNone": 9,
    "sortKeys": 12,
    "showHidden": 16,
}
"""The fields of `ExecProgramArgs` that are switches, by their names in the input's `config`.

`debug` is left out: it makes the core write files, and changes nothing in the result.
"""


class CoreError(Exception):
    """The core cannot compile or run a program."""


def encode_run(program: Program) -> bytes:
    """`ExecProgramArgs` without `args`. Encoded messages are joined by concatenation."""
    parts = [_text(2, name) for name, _ in program.entries]
    parts += [_text(3, code) for _, code in program.entries if code is not None]
    parts += [_pair(13, name, path) for name, path in program.packages]
    parts += [_text(5, override) for override in program.overrides]
    parts += [_text(17, selector) for selector in program.path_selectors]
    parts += [_varint(FLAG_FIELDS[flag] << 3) + b"\x01" for flag in program.flags]
    parts.append(_text(20, "json"))
    return b"".join(parts)


def encode_arguments(arguments: Iterable[tuple[str, bytes]]) -> bytes:
    """The `args` of `ExecProgramArgs`: names, and values as JSON or plain text."""
    return b"".join(_chunk(4, _text(1, name) + _chunk(2, value)) for name, value in arguments)


def decode_result(reply: bytes) -> bytes:
    """The JSON documents of `ExecProgramResult`, one on a line; raises CoreError."""
    if reply.startswith(_ERROR):
        raise CoreError(reply[len(_ERROR) :].decode("utf-8", "replace"))
    fields = dict(_fields(reply))
    if fields.get(_PROBLEM):
        raise CoreError(fields[_PROBLEM].decode("utf-8", "replace"))
    return fields.get(_JSON_RESULT, b"")


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message that has nothing but texts."""
    position = 0
    while position < len(message):
        tag, position = _read_varint(message, position)
        if tag & 7 != _LENGTH_DELIMITED:
            raise CoreError("the KCL core gives an unknown answer")
        length, position = _read_varint(message, position)
        yield tag >> 3, message[position : position + length]
        position += length


def _pair(number: int, name: str, value: str) -> bytes:
    return _chunk(number, _text(1, name) + _text(2, value))


def _text(number: int, text: str) -> bytes:
    return _chunk(number, text.encode())


def _chunk(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    data.append(number)
    return bytes(data)


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    """A number, and the position behind it."""
    number = shift = 0
    while True:
        byte = data[position]
        position += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, position
        shift += 7
