"""A Composition that does not state its mode gets it from its other fields, everywhere the same."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.kinds.composition import parse_composition
from crossply.kinds.composition_defaults import composition_mode, with_defaults
from crossply.kinds.composition_revision import new_revision

TYPE = {"apiVersion": "example.org/v1", "kind": "XThing"}
STEP = {"step": "s", "functionRef": {"name": "f"}}
TEMPLATE = {"name": "a", "base": {"apiVersion": "v1", "kind": "ConfigMap"}}
CONTAINER = {"name": "f", "type": "Container", "container": {"image": "example.org/f:1"}}

MODES = [
    ({"resources": [TEMPLATE]}, "Resources", "the default before pipelines existed"),
    ({"to": [TEMPLATE]}, "Resources", "the first design"),
    ({"functions": [CONTAINER]}, "Resources", "container functions precede pipelines"),
    ({"resources": [TEMPLATE], "pipeline": [STEP]}, "Resources", "the default honours only the templates"),
    ({"pipeline": [STEP]}, "Pipeline", "the default of today"),
    ({"pipeline": [STEP], "resources": []}, "Pipeline", "an empty list composes nothing"),
    ({"resources": []}, "Resources", "there is nothing else"),
    ({"pipeline": [STEP], "environment": {"patches": []}}, "Pipeline", "pipelines may have an environment"),
    ({"mode": "", "resources": [TEMPLATE]}, "Resources", "an empty mode is no mode"),
    ({"mode": "Pipeline", "pipeline": [STEP], "resources": [TEMPLATE]}, "Pipeline", "it is written"),
    ({"mode": "Resources", "pipeline": [STEP], "resources": [TEMPLATE]}, "Resources", "it is written"),
]


def composition(spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "c", "uid": "u"},
        "spec": {"compositeTypeRef": TYPE, **spec},
    }


@pytest.mark.parametrize(("spec", "mode", "reason"), MODES)
def test_the_model_the_revision_and_the_package_agree_on_the_mode(
    spec: dict[str, Any], mode: str, reason: str
) -> None:
    written = composition(spec)
    steps = {"Pipeline": ["s"], "Resources": ["resources", "f"]}[mode]
    assert composition_mode(written["spec"]) == mode, reason
    assert parse_composition(written).mode == mode
    assert {step.name for step in parse_composition(written).steps} <= set(steps)
    assert new_revision(written, 1)["spec"]["mode"] == mode
    assert with_defaults(written, written)["spec"]["mode"] == mode


def test_a_kind_that_is_no_composition_gets_no_mode() -> None:
    config = {"kind": "ConfigMap", "spec": {"resources": [1]}}
    assert with_defaults(config, config) == config
