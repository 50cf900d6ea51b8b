"""Warnings about unknown and repeated fields."""

from __future__ import annotations

import pytest

from crossply.apiserver.endpoints.body_decoding import read_body
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.defaulting_and_pruning import normalize
from tests.support.apiserver.store_bench import Bench, bench

DEPLOYMENT = b"""{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "one"},
"spec": {"strange": 1, "replicas": 2, "replicas": 3, "odd": 4, "selector": {}, "template": {}}}"""
WIDGET = b"""
apiVersion: example.org/v1
kind: Widget
metadata: {name: one, strange: x}
spec:
  foo: a
  foo: b
"""


def creation_warnings(
    client: Bench, plural: str, body: bytes, media: str, field_validation: str
) -> list[str]:
    """The warnings of a creation."""
    query = {"fieldValidation": field_validation}
    headers = {"Content-Type": media}
    call = client.call(plural, "n", "one", "create", body=body, headers=headers, query=query)
    normalize(call, read_body(call))
    return call.warnings


async def test_errors_about_a_built_in_kind_come_in_the_order_of_its_fields() -> None:
    async with bench() as client:
        warnings = [
            'unknown field "spec.strange"',
            'duplicate field "spec.replicas"',
            'unknown field "spec.odd"',
        ]
        assert creation_warnings(client, "deployments", DEPLOYMENT, "application/json", "Warn") == warnings
        with pytest.raises(StatusError) as refused:
            creation_warnings(client, "deployments", DEPLOYMENT, "application/json", "Strict")
        assert str(refused.value).endswith(f"strict decoding error: {', '.join(warnings)}")


async def test_repeated_keys_of_yaml_come_before_unknown_fields() -> None:
    async with bench() as client:
        message = ['line 7: key "foo" already set in map', 'unknown field "metadata.strange"']
        assert creation_warnings(client, "widgets", WIDGET, "application/yaml", "Warn") == message
        with pytest.raises(StatusError) as refused:
            creation_warnings(client, "widgets", WIDGET, "application/yaml", "Strict")
        assert str(refused.value) == (
            'Widget in version "v1" cannot be handled as a Widget: strict decoding error: '
            'yaml: unmarshal errors:\n  line 7: key "foo" already set in map, '
            'unknown field "metadata.strange"'
        )


async def test_field_validation_ignore_reports_nothing() -> None:
    async with bench() as client:
        assert creation_warnings(client, "deployments", DEPLOYMENT, "application/json", "Ignore") == []
