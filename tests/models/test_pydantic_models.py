"""Models as pydantic classes have the modules and names that programs of `up` projects import."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from crossply.models.pydantic_kubernetes_models import kubernetes_files, metadata_files
from crossply.models.pydantic_models import item_name, module_of, package_files
from crossply.models.upbound_kinds import TEST_KINDS

pydantic = pytest.importorskip("pydantic")
RULE = {"type": "object", "properties": {"days": {"type": "integer"}}}
BUCKET = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "required": ["forProvider"],
            "properties": {
                "forProvider": {
                    "type": "object",
                    "required": ["region"],
                    "properties": {
                        "region": {"type": "string"},
                        "rule": {"type": "array", "items": RULE},
                        "policies": {"type": "array", "items": RULE},
                        "tags": {"type": "object", "additionalProperties": {"type": "string"}},
                        "port": {"x-kubernetes-int-or-string": True},
                        "class": {"type": "string"},
                        "validate": {"type": "boolean"},
                        "x-odd": {"type": "number"},
                    },
                },
                "initProvider": {
                    "type": "object",
                    "properties": {"rule": {"type": "array", "items": RULE}},
                },
                "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
            },
        },
        "status": {
            "type": "object",
            "properties": {"at": {"type": "string", "format": "date-time"}, "raw": {"type": "object"}},
        },
    },
}


def crd(schema: dict[str, Any]) -> dict[str, Any]:
    version = {"name": "v1beta1", "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "s3.aws.m.acme.test", "names": {"kind": "Bucket"}, "versions": [version]}
    return {"metadata": {"name": "buckets"}, "spec": spec}


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a module of a package of models."""
    files = {**package_files([crd(BUCKET), *TEST_KINDS]), **kubernetes_files(), **metadata_files()}
    for name, text in files.items():
        path = tmp_path / "acme_models" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))

    def load(name: str) -> ModuleType:
        return importlib.import_module(f"acme_models.{name}")

    yield load
    for name in [name for name in sys.modules if name.startswith("acme_models")]:
        del sys.modules[name]


def test_a_kind_has_a_module_and_its_parts_are_called_by_their_fields(models: Any) -> None:
    module = models("test.acme.m.aws.s3.bucket.v1beta1")
    meta = models("io.k8s.apimachinery.pkg.apis.meta.v1")
    bucket = module.Bucket(
        metadata=meta.ObjectMeta(name="x"),
        spec=module.Spec(
            forProvider=module.ForProvider(
                region="eu", rule=[module.RuleItem(days=3)], policies=[module.Policy(days=1)], tags={"a": "b"}
            )
        ),
    )
    dumped = bucket.model_dump(exclude_unset=True)
    assert dumped["spec"]["forProvider"]["rule"] == [{"days": 3}]
    assert (bucket.apiVersion, bucket.kind) == ("s3.aws.m.acme.test/v1beta1", "Bucket")
    assert (bucket.spec.mode, "mode" in dumped["spec"]) == ("a", False)
    assert module.InitProvider(rule=[module.RuleItem1(days=1)]).rule[0].days == 1


def test_an_object_of_an_api_server_is_read(models: Any) -> None:
    module = models("test.acme.m.aws.s3.bucket.v1beta1")
    provider = {"region": "eu", "port": "http", "class": "fast", "validate": True, "x-odd": 1.5, "later": 1}
    bucket = module.Bucket(
        **{"spec": {"forProvider": provider}, "status": {"at": "2026-01-01T00:00:00Z", "raw": {"a": 1}}}
    )
    read = bucket.spec.forProvider
    assert (read.port, read.class_, read.validate_, read.x_odd) == ("http", "fast", True, 1.5)
    assert bucket.status.at.year == 2026
    assert read.model_dump(by_alias=True, exclude_none=True)["class"] == "fast"
    with pytest.raises(pydantic.ValidationError):
        module.Bucket(spec={"forProvider": {}})


def test_tests_of_up_and_kinds_of_kubernetes_have_models(models: Any) -> None:
    test = models("io.upbound.dev.meta.compositiontest.v1alpha1")
    composition_test = test.CompositionTest(spec=test.Spec(xrPath="x", timeoutSeconds=60, validate=False))
    assert (composition_test.kind, composition_test.spec.validate_) == ("CompositionTest", False)
    apps, core = models("io.k8s.api.apps.v1"), models("io.k8s.api.core.v1")
    meta = models("io.k8s.apimachinery.pkg.apis.core.meta.v1")
    template = core.PodTemplateSpec(spec=core.PodSpec(containers=[core.Container(name="c")]))
    deployment = apps.Deployment(
        metadata=meta.ObjectMeta(name="x"), spec=apps.DeploymentSpec(template=template)
    )
    assert deployment.model_dump(exclude_none=True)["apiVersion"] == "apps/v1"


def test_names_lead_nowhere_else() -> None:
    module = module_of("../../etc", "v1", "../X")
    assert all(part.isidentifier() for part in module.split("."))


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("rule", "ruleItem"),
        ("rules", "rule"),
        ("policies", "policy"),
        ("addresses", "address"),
        ("status", "statusItem"),
    ],
)
def test_an_item_has_the_singular_of_its_list(key: str, name: str) -> None:
    assert item_name(key) == name
