"""Compact bytes use only the memory they need."""

from __future__ import annotations

import tracemalloc

import orjson

from crossply.values.overallocated_bytes import compact_bytes


def test_compact_bytes_are_the_same_in_less_memory() -> None:
    tracemalloc.start()
    try:
        data = [compact_bytes(orjson.dumps({"name": f"object-{number}"})) for number in range(1000)]
        memory, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert data[7] == b'{"name":"object-7"}'
    assert memory < 200 * len(data)
