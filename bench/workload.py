"""The workloads: a Composition of N resources with two patches each, as files and in memory."""

from __future__ import annotations

import pathlib
from typing import Any

from crossply.compose.engine_field_paths import MODERN
from crossply.compose.prepared_composition import PreparedComposition, prepare
from crossply.kinds.composition import parse_composition
from crossply.values.yaml import dump_all

FUNCTIONS = ("patch-and-transform", "auto-ready")
MACHINERY = MODERN

XR: dict[str, Any] = {
    "apiVersion": "example.org/v1",
    "kind": "XApp",
    "metadata": {"name": "bench", "namespace": "default"},
    "spec": {"region": "eu-west-1", "size": 3, "labels": {"team": "platform"}},
}


def resource(index: int) -> dict[str, Any]:
    return {
        "name": f"resource-{index}",
        "base": {
            "apiVersion": "example.org/v1",
            "kind": "Bucket",
            "metadata": {"labels": {"app": "bench"}},
            "spec": {"forProvider": {"region": "", "acl": "private", "tags": {"a": "b"}}},
        },
        "patches": [
            {
                "type": "FromCompositeFieldPath",
                "fromFieldPath": "spec.region",
                "toFieldPath": "spec.forProvider.region",
            },
            {
                "type": "FromCompositeFieldPath",
                "fromFieldPath": "spec.size",
                "toFieldPath": "spec.forProvider.size",
                "transforms": [{"type": "math", "math": {"type": "Multiply", "multiply": 2}}],
            },
        ],
    }


def composition(resources: int) -> dict[str, Any]:
    steps = [
        {
            "step": "patch-and-transform",
            "functionRef": {"name": "function-patch-and-transform"},
            "input": {
                "apiVersion": "pt.fn.crossplane.io/v1beta1",
                "kind": "Resources",
                "resources": [resource(n) for n in range(resources)],
            },
        },
        {"step": "ready", "functionRef": {"name": "function-auto-ready"}},
    ]
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "bench"},
        "spec": {
            "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XApp"},
            "mode": "Pipeline",
            "pipeline": steps,
        },
    }


def functions() -> list[dict[str, Any]]:
    return [_function(name) for name in FUNCTIONS]


def _function(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {"name": f"function-{name}"},
        "spec": {"package": f"xpkg.crossplane.io/crossplane-contrib/function-{name}:v1"},
    }


def prepared_composition(resources: int) -> PreparedComposition:
    return prepare(parse_composition(composition(resources)))


def write_files(folder: pathlib.Path, resources: int) -> None:
    (folder / "xr.yaml").write_text(dump_all([XR]))
    (folder / "composition.yaml").write_text(dump_all([composition(resources)]))
    (folder / "functions.yaml").write_text(dump_all(functions()))


KCL = """
items = [{
    apiVersion = "s3.example.org/v1"
    kind = "Bucket"
    metadata = {name = "bucket-${number}", annotations = {"krm.kcl.dev/ready" = "True"}}
    spec.forProvider.region = option("params").oxr.spec.region
} for number in range(3)]
"""


def write_kcl_files(folder: pathlib.Path) -> None:
    """A rendering with one step in KCL."""
    step = {
        "step": "buckets",
        "functionRef": {"name": "function-kcl"},
        "input": {"apiVersion": "krm.kcl.dev/v1alpha1", "kind": "KCLInput", "spec": {"source": KCL}},
    }
    base = composition(1)
    (folder / "xr.yaml").write_text(dump_all([XR]))
    (folder / "composition.yaml").write_text(
        dump_all([{**base, "spec": {**base["spec"], "pipeline": [step]}}])
    )
    (folder / "functions.yaml").write_text(dump_all([_function("kcl")]))
