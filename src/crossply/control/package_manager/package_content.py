"""A fetched package: its metadata, and its objects as encoded bytes.

The objects of a large Provider take ten times the memory once they are decoded, so each is decoded only when
it is used.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import orjson

from crossply.compose.object_metadata import name_of
from crossply.values import Object
from crossply.xpkg.cancellable_thread import cancellable_thread
from crossply.xpkg.failures import TooLarge
from crossply.xpkg.package_yaml import Package, documents


class PackageContent(NamedTuple):
    """A package that was read."""

    package: Package
    """Its description, and of what it brings only what each object is called."""
    encoded: tuple[bytes, ...]
    """What it brings, in the same order."""


async def read_package_content(stream: bytes, source: str) -> PackageContent:
    """Read the stream of a package beside everything else; cancelling the caller ends it."""
    return await cancellable_thread(lambda cancelled: _read(stream, source, cancelled))


def _read(stream: bytes, source: str, cancelled: threading.Event) -> PackageContent:
    metas: list[Object] = []
    heads: list[Object] = []
    encoded: list[bytes] = []
    for described, obj in documents(stream, source):
        if cancelled.is_set():
            raise TooLarge("the package takes too long to be read")
        if described:
            metas.append(obj)
        else:
            heads.append(_head(obj))
            encoded.append(orjson.dumps(obj))
    return PackageContent(Package(tuple(metas), tuple(heads)), tuple(encoded))


def _head(obj: Object) -> Object:
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": {"name": name_of(obj)}}
