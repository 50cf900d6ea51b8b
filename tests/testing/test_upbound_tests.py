"""The CompositionTests of `up` run as they are: in YAML, and as Go templates."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.support.suite_folder import COMPOSITION, XR, Folder
from tests.support.upbound_project import PROJECT, XRD

BUCKET = {
    "apiVersion": "example.org/v1",
    "kind": "Bucket",
    "metadata": {"annotations": {"crossplane.io/composition-resource-name": "bucket"}},
}


@pytest.fixture
def project(folder: Folder) -> Folder:
    """A project with an API, in which a test has paths from the project's folder."""
    (folder.path / "composition.yaml").unlink()
    folder.write("upbound.yaml", PROJECT)
    folder.write("apis/composition.yaml", COMPOSITION)
    folder.write("apis/definition.yaml", XRD)
    folder.write("examples/app.yaml", XR)
    return folder


def composition_test(name: str = "it", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "meta.dev.upbound.io/v1alpha1",
        "kind": "CompositionTest",
        "metadata": {"name": name},
        "spec": {"compositionPath": "apis/composition.yaml", "timeoutSeconds": 60, **spec},
    }


def write(project: Folder, *tests: dict[str, Any], file: str = "tests/test-app/test.yaml") -> None:
    project.write(file, yaml.safe_dump_all(tests, sort_keys=False))


def test_assertions_about_resources_and_the_composite_pass(project: Folder) -> None:
    composite = {
        **XR,
        "metadata": {"name": "shop"},
        "status": {"url": "https://shop.test"},
    }
    observed = {
        **BUCKET,
        "metadata": {**BUCKET["metadata"], "name": "shop-bucket", "namespace": "team"},
        "status": {"url": "https://shop.test"},
    }
    bucket = {**BUCKET, "metadata": {"name": "shop-bucket"}, "spec": {"size": 3, "region": "eu"}}
    spec = {"xrPath": "examples/app.yaml", "observedResources": [observed]}
    write(project, composition_test(**spec, assertResources=[composite, bucket]))
    result = project.run()
    assert (result.code, "1 passed" in result.out) == (0, True), result.out
    assert "tests/test-app/test.yaml\n  ✓ it (" in result.out


def test_a_difference_is_reported_with_its_line(project: Folder) -> None:
    bucket = {**BUCKET, "spec": {"region": "us", "zones": ["a"]}}
    write(project, composition_test(xr=XR, assertResources=[bucket]))
    result = project.run()
    assert result.code == 1
    assert "Bucket (bucket): spec.region\n        - expected: us\n        + actual:   eu" in result.out
    assert "Bucket (bucket): spec.zones" in result.out
    assert "at tests/test-app/test.yaml:24" in result.out


def test_a_resource_that_is_not_composed_is_reported_beside_those_that_are(project: Folder) -> None:
    other = {**BUCKET, "metadata": {"annotations": {"crossplane.io/composition-resource-name": "attic"}}}
    write(project, composition_test(xr=XR, assertResources=[other]))
    result = project.run()
    assert result.code == 1
    assert "Bucket (attic): no such resource" in result.out
    assert "Bucket shop-" in result.out


def test_a_definition_gives_defaults(project: Folder) -> None:
    xr = {**XR, "spec": {"size": 3}}
    cdn = {"apiVersion": "example.org/v1", "kind": "Cdn", "spec": {"plan": "large"}}
    write(project, composition_test(xr=xr, xrdPath="apis/definition.yaml", assertResources=[cdn]))
    assert project.run().code == 0
    write(project, composition_test(xr=xr, assertResources=[cdn]))
    assert "spec.cdn is missing" in project.run().out


def test_inline_values_of_a_test_need_no_file(project: Folder) -> None:
    spec = {"xr": XR, "composition": yaml.safe_load(COMPOSITION), "xrd": yaml.safe_load(XRD)}
    test = composition_test(**spec, assertResources=[BUCKET])
    del test["spec"]["compositionPath"]
    write(project, test)
    assert project.run().code == 0


def test_composed_resources_are_validated_on_request(project: Folder) -> None:
    definition = XRD.replace("App", "Bucket").replace("apps", "buckets").replace("cdn:", "other:")
    project.write("apis/buckets.yaml", definition.replace("maximum: 10", "maximum: 2"))
    write(project, composition_test(xr={**XR, "spec": {**XR["spec"], "odd": 1}}, validate=True))
    result = project.run()
    assert (result.code, "resource bucket is not valid: spec.size" in result.out) == (1, True), result.out
    write(project, composition_test(xr=XR))
    assert project.run().code == 0


def test_several_tests_of_a_file_are_reported_together(project: Folder) -> None:
    tests = [composition_test(name, xr=XR, assertResources=[BUCKET]) for name in ("one", "two")]
    write(project, *tests)
    write(project, {"items": tests}, file="tests/test-listed/test.yaml")
    result = project.run()
    assert (result.code, "4 passed" in result.out) == (0, True), result.out
    assert result.out.count("tests/test-app/test.yaml\n") == 1
    assert "2 passed" in project.run("-k", "listed").out
    assert project.run("--list").out.count(": one\n") == 2


def test_it_runs_from_elsewhere_and_by_a_quoted_pattern(
    project: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, composition_test(xrPath="examples/app.yaml", assertResources=[BUCKET]))
    monkeypatch.chdir(project.path / "tests")
    assert project.run("test-*").code == 0
    assert project.run("test-app/test.yaml").code == 0


def test_paths_may_lead_from_the_folder_of_the_test(project: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = {"compositionPath": "../../apis/composition.yaml", "xrPath": "../../examples/app.yaml"}
    write(project, composition_test(**paths, assertResources=[BUCKET]))
    result = project.run()
    assert (result.code, "1 passed" in result.out) == (0, True), result.out
    monkeypatch.chdir(project.path / "tests")
    assert project.run("test-app").code == 0


@pytest.mark.parametrize(
    "context", [[], {}, None], ids=["a list, as earlier versions of up", "a map", "null"]
)
def test_a_context_without_anything_in_it_is_none(project: Folder, context: Any) -> None:
    write(project, composition_test(xr=XR, context=context, observedResources=[], extraResources=[]))
    result = project.run()
    assert (result.code, "1 passed" in result.out) == (0, True), result.out


def test_an_e2e_test_is_none_of_compositions(project: Folder) -> None:
    test = {**composition_test(), "kind": "E2ETest", "spec": {"manifests": [XR]}}
    write(project, test)
    result = project.run()
    assert (result.code, "no CompositionTest found" in result.err) == (2, True)


def test_an_unknown_field_is_noted(project: Folder) -> None:
    write(project, composition_test(xr=XR, assertResource=[BUCKET]))
    result = project.run()
    assert (result.code, "spec.assertResource: unknown field, ignored" in result.out) == (0, True)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({}, "spec.xr: one of 'xr' and 'xrPath' is needed"),
        ({"xr": XR, "xrPath": "x"}, "only one of 'xr' or 'xrPath' may be specified"),
        ({"xr": XR, "compositionPath": ""}, "one of 'composition' and 'compositionPath' is needed"),
        ({"xr": XR, "timeoutSeconds": 0}, "must be a number of seconds"),
        ({"xr": XR, "context": [{"a": 1}]}, "spec.context: must be an object, not a list"),
        ({"xr": XR, "assertResources": [{"kind": "X"}]}, "assertResources[0]: needs an apiVersion"),
        ({"xrPath": "no.yaml"}, "no.yaml: no such file or directory"),
        (
            {"xr": XR, "observedResources": [{"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}}]},
            "has no annotation crossplane.io/composition-resource-name",
        ),
        ({"xr": XR, "assertResources": [{**BUCKET, "spec": {"(x)": 1}}]}, "are not evaluated"),
    ],
)
def test_an_invalid_test_is_reported(project: Folder, spec: dict[str, Any], sentence: str) -> None:
    write(project, composition_test(**spec))
    result = project.run()
    assert (result.code, sentence in result.out) == (2, True), result.out


def test_a_test_outside_of_a_project_is_reported(folder: Folder) -> None:
    folder.write("test.yaml", composition_test(xr=XR))
    result = folder.run()
    assert (result.code, "belongs to a project, and there is none" in result.out) == (2, True)


TEMPLATE = """\
{{- $sizes := list 3 4 }}
items:
{{- range $size := $sizes }}
- apiVersion: meta.dev.upbound.io/v1alpha1
  kind: CompositionTest
  metadata:
    name: {{ printf "size-%v-%s" $size (env "UP_PLACE" | default "here") }}
  spec:
    compositionPath: apis/composition.yaml
    timeoutSeconds: 60
    xr:
      {{- $.xr | default $xr | nindent 6 }}
      spec: {size: {{ $size }}, cdn: small}
    assertResources:
    - apiVersion: example.org/v1
      kind: Bucket
      spec: {size: {{ $size }}}
{{- end }}
"""
PRELUDE = """\
{{- $xr := `apiVersion: example.org/v1
kind: App
metadata: {name: shop, namespace: team}` }}
"""


def test_go_templates_are_rendered_to_tests(project: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("tests/test-sizes/00-prelude.yaml.gotmpl", PRELUDE)
    project.write("tests/test-sizes/01-tests.yaml.gotmpl", TEMPLATE.replace("$.xr | default ", ""))
    monkeypatch.setenv("UP_PLACE", "there")
    result = project.run()
    assert (result.code, "2 passed" in result.out) == (0, True), result.out
    assert "✓ size-4-there" in result.out


def test_templates_do_not_see_other_variables(project: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "shown")
    project.write(
        "tests/test-env/test.yaml.gotmpl", 'items: []\n{{ if env "SECRET" }}{{ fail "seen" }}{{ end }}'
    )
    assert "seen" not in project.run().out


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ("{{ required }}", 'function "required" not defined'),
        ("{{ fail `no` }}", "error calling fail: no"),
        ("kind: Other\n", "the program prints no tests"),
        ("a: [", "not rendered to YAML"),
    ],
)
def test_templates_without_tests_are_reported(project: Folder, template: str, sentence: str) -> None:
    project.write("tests/test-wrong/test.yaml.gotmpl", template)
    result = project.run()
    assert (result.code, sentence in result.out) == (2, True), result.out


def test_templates_elsewhere_are_no_tests(project: Folder) -> None:
    project.write("functions/f/test.yaml.gotmpl", TEMPLATE)
    assert "no CompositionTest found" in project.run().err


def test_an_unsupported_language_is_reported(project: Folder) -> None:
    project.write("tests/test-go/go.mod", "module x\n")
    result = project.run()
    assert (result.code, "tests in go are not run" in result.out) == (2, True)
