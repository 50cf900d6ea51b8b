"""Warnings of an apply about unknown and repeated fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.verbs.patch import APPLY_YAML, patch
from tests.support.apiserver.store_bench import Bench, bench

TWICE = b"""
apiVersion: example.org/v1
kind: Widget
metadata:
  name: one
spec:
  foo: a
  foo: b
"""
UNKNOWN = TWICE.replace(b"  name: one", b"  name: one\n  strange: x")


def apply_of(client: Bench, body: bytes, field_validation: str) -> Call:
    query = {"fieldValidation": field_validation}
    headers = {"Content-Type": APPLY_YAML}
    return client.call("widgets", "n", "one", "patch", body=body, headers=headers, query=query)


async def test_a_strict_apply_refuses_repeated_keys() -> None:
    async with bench() as client:
        with pytest.raises(StatusError) as refused:
            await patch(client.context, apply_of(client, TWICE, "Strict"))
        assert refused.value.status == 400
        assert str(refused.value) == (
            "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
            '  line 8: key "foo" already set in map'
        )


@pytest.mark.parametrize(
    ("field_validation", "warnings"), [("Warn", ['line 8: key "foo" already set in map']), ("Ignore", [])]
)
async def test_any_other_apply_takes_the_last_one(field_validation: str, warnings: list[str]) -> None:
    async with bench() as client:
        call = apply_of(client, TWICE, field_validation)
        answer = await patch(client.context, call)
        assert orjson.loads(answer.body)["spec"] == {"foo": "b"}
        assert call.warnings == warnings


@pytest.mark.parametrize("field_validation", ["Strict", "Warn", "Ignore"])
async def test_metadata_that_there_is_not_cannot_be_applied(field_validation: str) -> None:
    async with bench() as client:
        with pytest.raises(StatusError) as refused:
            await patch(client.context, apply_of(client, UNKNOWN, field_validation))
        assert refused.value.status == 500
        assert ".metadata.strange: field not declared in schema" in str(refused.value)


async def test_an_answer_has_its_keys_in_the_order_in_which_they_are_stored() -> None:
    """Clients compare the bytes of managedFields with those of a later watch."""
    body = TWICE.replace(b"  foo: a\n  foo: b", b"  z: 1\n  a: 2")
    async with bench() as client:
        answer = await patch(client.context, apply_of(client, body, "Strict"))
        stored = client.context.store.get(("widgets.example.org", "n", "one"))
        assert stored is not None
        assert list(_keys(orjson.loads(answer.body))) == list(_keys(orjson.loads(stored.data)))


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from _keys(member)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item)
