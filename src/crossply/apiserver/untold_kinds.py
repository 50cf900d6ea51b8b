"""Items of a list of a built-in kind do not tell their kind: the list tells it for all of them.

Lists are mostly made of stored bytes, which are joined and not read. There the two fields are cut out where
they stand: keys are sorted, so nothing but plain texts comes before them in nearly every kind.
"""

from __future__ import annotations

from crossply.apiserver.endpoints.body_decoding import decode, encode
from crossply.values import Object

_TOLD = frozenset({"apiVersion", "kind"})
_ANY_DATA = frozenset({"ControllerRevision"})
"""Kinds that hold other objects before their own kind."""


def untold(obj: Object) -> Object:
    """An object without its kind and version."""
    return {key: value for key, value in obj.items() if key not in _TOLD}


def untold_bytes(stored: list[bytes], api_version: str, kind: str) -> list[bytes]:
    """Stored objects of one kind without their kind and version."""
    if kind in _ANY_DATA:
        return [_read(data) for data in stored]
    version = f'{{"apiVersion":"{api_version}",'.encode()
    middle = f'"kind":"{kind}",'.encode()
    mark = middle + b'"metadata":{'
    return [_cut(data, version, middle, mark) for data in stored]


def _cut(data: bytes, version: bytes, middle: bytes, mark: bytes) -> bytes:
    at = data.find(mark) if data.startswith(version) else -1
    if at < 0:
        return _read(data)
    return b"{" + data[len(version) : at] + data[at + len(middle) :]


def _read(data: bytes) -> bytes:
    return encode(untold(decode(data)))
