"""How heavy work on a body or an object is, in bytes of ordinary JSON.

Bytes alone do not say it. YAML takes about fifty times as long to read or write as JSON, aliases multiply a
few bytes to a hundred thousand values, and many tiny values cost more than one long text.
"""

from __future__ import annotations

from typing import Any

import orjson

from crossply.apiserver.background import HEAVY_BYTES

YAML_FACTOR = 50
PROTOBUF_FACTOR = 10
_BYTES_PER_VALUE = 128


def yaml_weight(body: bytes) -> int:
    """The weight of reading a body as YAML."""
    return len(body) * YAML_FACTOR + (HEAVY_BYTES if b"*" in body else 0)


def value_weight(value: Any) -> int:
    """The weight of working on a value, by how many values it is made of."""
    count = 1
    level = [value] if type(value) in (dict, list) else []
    while level:
        containers = [item.values() if type(item) is dict else item for item in level]
        count += sum(map(len, containers))
        level = [child for items in containers for child in items if type(child) in (dict, list)]
    return count * _BYTES_PER_VALUE


def is_light_json(body: bytes) -> bool:
    """Whether JSON can hold but few values, without reading it: each follows a comma or a bracket."""
    return (body.count(b",") + body.count(b"{") + body.count(b"[")) * _BYTES_PER_VALUE < HEAVY_BYTES


def stored_weight(data: bytes) -> int:
    """The weight of working on a stored object."""
    return len(data) if is_light_json(data) else max(len(data), HEAVY_BYTES)


def encoded_weight(value: Any, factor: int) -> int:
    """The weight of writing a value in a form that takes so many times as long as JSON."""
    return len(orjson.dumps(value)) * factor
