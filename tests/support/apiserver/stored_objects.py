"""Objects as the server would store them, for the tests of the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from crossply.apiserver.storage import Entry, Key, Store

WIDGETS = "widgets.example.org"


def widget(name: str, namespace: str = "default") -> Key:
    return (WIDGETS, namespace, name)


def encoder(content: Any = None) -> Callable[[int], bytes]:
    """What a verb hands to the store: the object, waiting for its revision."""
    return lambda revision: orjson.dumps({"metadata": {"resourceVersion": str(revision)}, "spec": content})


async def create(store: Store, key: Key, content: Any = None) -> Entry:
    return await store.write(key, None, encoder(content))


async def update(store: Store, key: Key, content: Any = None) -> Entry:
    current = store.latest(key)
    assert current is not None
    return await store.write(key, current.revision, encoder(content))


async def delete(store: Store, key: Key, content: Any = None) -> Entry:
    current = store.latest(key)
    assert current is not None
    return await store.delete(key, current.revision, encoder(content))


def content_of(entry: Entry) -> Any:
    return orjson.loads(entry.data)["spec"]


def names(entries: list[Entry]) -> list[str]:
    return [entry.key[2] for entry in entries]
