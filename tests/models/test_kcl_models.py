"""Models in KCL are schemas that KCL accepts, with the defaults, choices and limits of the definition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crossply.manifests.files import SourceError
from crossply.models.kcl_kubernetes_models import kubernetes_files
from crossply.models.kcl_models import literal, package_files
from crossply.models.upbound_kinds import TEST_KINDS

kcl_lib = pytest.importorskip("kcl_lib")


def crd(schema: dict[str, Any], kind: str = "Lamp", group: str = "acme.test") -> dict[str, Any]:
    return {
        "metadata": {"name": f"{kind.lower()}s.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind},
            "versions": [
                {"name": "v1", "schema": {"openAPIV3Schema": schema}},
                {"name": "v0", "served": False, "schema": {"openAPIV3Schema": schema}},
            ],
        },
    }


LAMP = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "description": 'A "quoted" text with ${x} and """ and a backslash \\',
            "required": ["watt"],
            "properties": {
                "watt": {"type": "integer", "minimum": 1, "maximum": 100, "description": "How bright."},
                "type": {"type": "string", "enum": ["hall", "attic"], "default": "hall"},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "ports": {
                    "type": "array",
                    "maxItems": 2,
                    "items": {"type": "object", "properties": {"port": {"x-kubernetes-int-or-string": True}}},
                },
                "zones": {
                    "type": "object",
                    "additionalProperties": {"type": "object", "properties": {"id": {"type": "string"}}},
                },
                "policies": {"type": "array", "items": {"type": "string"}, "default": ["*"]},
                "reference": {
                    "type": "object",
                    "default": {"name": "default"},
                    "properties": {"name": {"type": "string"}, "cost": {"type": "string"}},
                },
                "cost": {"type": "string", "default": "$${x}"},
                "x-odd": {"type": "boolean"},
                "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "half": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "properties": {"known": {"type": "number"}},
                },
            },
        },
    },
}


class Kcl:
    """Runs programs beside a package of models."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.folder = folder
        for name, text in files.items():
            path = folder / "package" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def run(self, program: str) -> Any:
        from kcl_lib import api

        (self.folder / "main.k").write_text(program)
        package = api.ExternalPkg(pkg_name="models", pkg_path=str(self.folder / "package"))
        arguments = api.ExecProgramArgs(
            k_filename_list=[str(self.folder / "main.k")], external_pkgs=[package]
        )
        result = api.API().exec_program(arguments)
        assert not result.err_message, result.err_message
        return json.loads(result.json_result)


@pytest.fixture
def kcl(tmp_path: Path) -> Kcl:
    return Kcl(tmp_path, package_files([crd(LAMP), *TEST_KINDS]))


HEAD = "import models.test.acme.v1 as acme\n"


def test_an_instance_of_a_model_has_its_type_and_its_defaults(kcl: Kcl) -> None:
    result = kcl.run(HEAD + 'a = acme.Lamp{metadata.name = "x", spec.watt = 3}')
    assert result["a"] == {
        "apiVersion": "acme.test/v1",
        "kind": "Lamp",
        "metadata": {"name": "x"},
        "spec": {
            "watt": 3,
            "type": "hall",
            "policies": ["*"],
            "cost": "$${x}",
        },
    }


def test_lists_maps_and_open_objects_have_the_values_the_definition_allows(kcl: Kcl) -> None:
    ports, zones = '[{port = 80}, {port = "http"}]', '{north = {id = "n"}}'
    half = '{known = 1.5, other = "x"}'
    fields = f'watt = 3, labels = {{a = "b"}}, ports = {ports}, zones = {zones}, half = {half}'
    spec = f'{{{fields}, "x-odd" = True, open = {{anything = [1]}}}}'
    lamp = kcl.run(f"{HEAD}a = acme.Lamp{{spec = {spec}}}")["a"]["spec"]
    assert lamp["ports"] == [{"port": 80}, {"port": "http"}]
    assert (lamp["half"], lamp["open"], lamp["x-odd"]) == (
        {"known": 1.5, "other": "x"},
        {"anything": [1]},
        True,
    )


def test_inner_schemas_have_the_names_of_their_paths(kcl: Kcl) -> None:
    program = (
        HEAD + "a = acme.AcmeTestV1LampSpecPortsItems0{port = 1}\nb = acme.AcmeTestV1LampSpecZonesAnon{}"
    )
    assert kcl.run(program)["a"] == {"port": 1}


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("{}", "watt"),
        ("{watt = 0}", "heck"),
        ("{watt = 101}", "heck"),
        ('{watt = 3, $type = "cellar"}', "hall"),
        ("{watt = 3, volt = 1}", "volt"),
        ('{watt = "3"}', "int"),
        ("{watt = 3, ports = [{}, {}, {}]}", "heck"),
    ],
)
def test_values_that_the_definition_forbids_are_errors(kcl: Kcl, spec: str, sentence: str) -> None:
    with pytest.raises(Exception, match=sentence):
        kcl.run(f"{HEAD}a = acme.Lamp{{spec = {spec}}}")


def test_tests_of_up_have_models(kcl: Kcl) -> None:
    program = """\
import models.io.upbound.dev.meta.v1alpha1 as metav1alpha1

items = [
    metav1alpha1.CompositionTest{metadata.name = "a", spec = {xrPath = "x", assertResources = [{kind = "X"}]}}
    metav1alpha1.E2ETest{
        metadata.name = "b"
        spec = {crossplane.autoUpgrade.channel = "Rapid", manifests = [{kind = "X"}], skipDelete = False}
    }
]
"""
    first, second = kcl.run(program)["items"]
    assert first["spec"]["timeoutSeconds"] == 30
    assert second["spec"]["crossplane"]["autoUpgrade"] == {"channel": "Rapid"}


def test_a_definition_that_is_none_is_refused() -> None:
    with pytest.raises(SourceError, match=r'cannot make models of the definition "lamps\.acme\.test"'):
        package_files([crd({"properties": {"spec": {"type": "object", "properties": ["x"]}}})])


def test_a_schema_without_end_is_cut() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        schema = {"type": "object", "properties": {"a": schema}}
    text = package_files([crd(schema)])["test/acme/v1/lamp.k"]
    assert "a?: any" in text
    assert text.count("schema ") < 50


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "None"), (True, "True"), (1.5, "1.5"), ('a"\n${b}', '"a\\"\\n\\${b}"'), ({"a": []}, '{"a": []}')],
)
def test_a_value_is_written_as_kcl_has_it(value: Any, text: str) -> None:
    assert literal(value) == text


def test_the_kinds_of_kubernetes_have_models(tmp_path: Path) -> None:
    kcl = Kcl(tmp_path, {**kubernetes_files(), "kcl.mod": '[package]\nname = "models"\n'})
    program = """\
import models.io.k8s.api.core.v1 as corev1
import models.io.k8s.api.apps.v1 as appsv1
import models.io.k8s.api.networking.v1 as networkingv1

a = appsv1.Deployment{
    metadata = {name = "x", labels = {app = "x"}}
    spec = {
        selector.matchLabels = {app = "x"}
        template.spec.containers = [corev1.Container{name = "c", ports = [{containerPort = 80}]}]
    }
}
b = networkingv1.Ingress{spec.rules = [{host = "x", http.paths = [{path = "/", pathType = "Prefix"}]}]}
c = corev1.Service{spec.ports = [{port = 80, targetPort = "http"}]}
"""
    result = kcl.run(program)
    assert (result["a"]["apiVersion"], result["c"]["kind"]) == ("apps/v1", "Service")
    assert result["a"]["spec"]["template"]["spec"]["containers"][0]["ports"] == [{"containerPort": 80}]
