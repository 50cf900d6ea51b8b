"""`check` fetches no modules of scripts, however they name them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.checking.platform import Platform

COMPOSED = "apis/lamps/composition.yaml"


@pytest.fixture
def platform(tmp_path: Path) -> Platform:
    return Platform(tmp_path)


def add_script(platform: Platform, spec: dict[str, Any]) -> None:
    """Have the Composition run a script first."""
    step_input = {"apiVersion": "starlark.fn.crossplane.io/v1alpha1", "kind": "StarlarkInput", "spec": spec}
    step = {"step": "program", "functionRef": {"name": "function-starlark"}, "input": step_input}
    platform.replace(COMPOSED, "  - step: ready\n", f"  - {json.dumps(step)}\n  - step: ready\n")


@pytest.mark.parametrize(
    "spec",
    [
        {"source": 'load("a:v1/x.star", "x")', "ociDefaultRegistry": "registry.example.org/team"},
        {"source": 'load("oci:\\x2f/registry.example.org/a:v1/x.star", "x")'},
    ],
    ids=["in the default registry", "with an escape"],
)
def test_an_example_whose_script_loads_modules_of_a_registry_is_not_rendered(
    platform: Platform, spec: dict[str, Any]
) -> None:
    add_script(platform, spec)
    report = platform.report()
    assert (report.findings, report.rendered) == ((), 0)
    assert 'step "program" fetches modules' in report.skipped[0].reason


def test_an_example_whose_script_loads_modules_beside_it_is_rendered(platform: Platform) -> None:
    add_script(platform, {"source": 'load("a.star", "x")', "modules": {"a.star": "x = 1"}})
    report = platform.report()
    assert (report.findings, report.rendered) == ((), 1)


def test_nothing_is_fetched_for_a_script_in_a_config_map(platform: Platform) -> None:
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "scripts", "namespace": "crossplane-system"},
        "data": {"main.star": 'load("oci://registry.example.org/team/a:v1/x.star", "x")\n'},
    }
    platform.write("scripts.yaml", json.dumps(config_map))
    add_script(platform, {"scriptConfigRef": {"name": "scripts", "key": "main.star"}})
    assert "nothing is fetched here" in str(platform.report().findings)
