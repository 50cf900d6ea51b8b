"""Finding fields that a kind does not have."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.apiserver import builtin
from tests.support.apiserver.builtin_kinds import deployment, new, resource_of

CRD = "apiextensions.k8s.io/v1"


def definition(schema: dict[str, Any]) -> dict[str, Any]:
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]
    return new(CRD, "CustomResourceDefinition", spec={"versions": versions})


ROOT = "spec.versions[0].schema.openAPIV3Schema"
CASES: list[tuple[dict[str, Any], list[str], str]] = [
    (deployment(), [], "all fields are known"),
    (deployment(b=1, a=2), ["spec.b", "spec.a"], "in the order in which they were written"),
    ({**new("v1", "ConfigMap", data={"any": "key"}), "x": 1}, ["x"], "keys of a map are no fields"),
    (
        deployment(template={"spec": {"containers": [{}, {"foo": 1}]}}),
        ["spec.template.spec.containers[1].foo"],
        "in lists too",
    ),
    (definition({"typ": "object"}), [f"{ROOT}.typ"], "in the schema of a definition"),
    (
        definition({"properties": {"a": {"allOf": [{"anyOf": [{"foo": 1}]}]}}}),
        [f"{ROOT}.properties.a.allOf[0].anyOf[0].foo"],
        "however deep",
    ),
    (definition({"items": {"foo": 1}}), [], "but not where a schema may be something else as well"),
    (definition({"additionalProperties": False, "default": {"any": "thing"}}), [], "free JSON has no fields"),
    (new("apps/v1", "ControllerRevision", data={"any": "thing"}), [], "raw data has none either"),
]


@pytest.mark.parametrize(("obj", "paths", "reason"), CASES)
def test_unknown_fields_are_detected(obj: dict[str, Any], paths: list[str], reason: str) -> None:
    assert builtin.unknown_fields(resource_of(obj), "v1", obj) == paths, reason
