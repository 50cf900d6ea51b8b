"""`validate` by Crossplane's own CRD of Compositions agrees with a control plane, which extends that CRD."""

from __future__ import annotations

import importlib.resources
from pathlib import Path
from typing import Any

import orjson
import pytest

from crossply.control.definitions.core_crds import core_crds
from crossply.values.yaml import dump
from tests.support.cli.command import Run

NAME = "compositions.apiextensions.crossplane.io"
TEMPLATES = [{"name": "one", "base": {"apiVersion": "v1", "kind": "ConfigMap"}}]
STEPS = [{"step": "one", "functionRef": {"name": "function-one"}}]
SPECS: dict[str, tuple[dict[str, Any], str]] = {
    "templates": ({"resources": TEMPLATES}, "[✓]"),
    "templates, and their mode": ({"mode": "Resources", "resources": TEMPLATES}, "[✓]"),
    "a pipeline": ({"pipeline": STEPS}, "[✓]"),
    "a pipeline, and its mode": ({"mode": "Pipeline", "pipeline": STEPS}, "[✓]"),
    "nothing": ({}, "an array of pipeline steps is required in Pipeline mode"),
    "a mode only": ({"mode": "Resources"}, "an array of resources is required in Resources mode"),
    "templates in another mode": (
        {"mode": "Pipeline", "resources": TEMPLATES},
        "an array of pipeline steps is required in Pipeline mode",
    ),
    "a field that nobody knows": ({"resources": TEMPLATES, "unknown": 1}, 'unknown field: "unknown"'),
}


def published() -> dict[str, Any]:
    """The CRD as Crossplane's image has it."""
    data = importlib.resources.files("crossply.control.definitions").joinpath("core_crds.json").read_bytes()
    return next(crd for crd in orjson.loads(data) if crd["metadata"]["name"] == NAME)


def installed() -> dict[str, Any]:
    """The CRD as a control plane installs it."""
    return next(crd for crd in core_crds() if crd["metadata"]["name"] == NAME)


@pytest.mark.parametrize(("spec", "expected"), SPECS.values(), ids=SPECS)
def test_a_composition_is_as_valid_as_in_a_control_plane(
    crossply: Run, tmp_path: Path, spec: dict[str, Any], expected: str
) -> None:
    composition = {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "c"},
        "spec": {"compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XApp"}, **spec},
    }
    (tmp_path / "composition.yaml").write_text(dump(composition))
    answers = []
    for name, crd in (("published", published()), ("installed", installed())):
        (tmp_path / f"{name}.yaml").write_text(dump(crd))
        words = ("resource", "validate", str(tmp_path / f"{name}.yaml"), str(tmp_path / "composition.yaml"))
        answers.append(crossply(*words, "--cache-dir", str(tmp_path / "cache")))
    assert answers[0] == answers[1]
    assert expected in answers[0][1]


def test_a_crd_that_has_only_the_name_is_taken_as_it_is(crossply: Run, tmp_path: Path) -> None:
    crd = published()
    for version in crd["spec"]["versions"]:
        version["schema"] = {"openAPIV3Schema": {"type": "object", "properties": {"a": {"type": "string"}}}}
    (tmp_path / "crd.yaml").write_text(dump(crd))
    composition = {"apiVersion": "apiextensions.crossplane.io/v1", "kind": "Composition", "a": "b"}
    (tmp_path / "composition.yaml").write_text(dump({**composition, "metadata": {"name": "c"}}))
    words = ("resource", "validate", str(tmp_path / "crd.yaml"), str(tmp_path / "composition.yaml"))
    assert "[✓]" in crossply(*words, "--cache-dir", str(tmp_path / "cache"))[1]
