"""An upbound.yaml is read as the same project that a crossplane-project.yaml would describe."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.kinds.generated_package_meta import configuration_meta
from crossply.kinds.project import ProjectError, parse_project

NEWER = {
    "apiVersion": "pkg.crossplane.io/v1",
    "kind": "Provider",
    "package": "registry.test/acme/lamps",
    "version": "v1",
}
OLDER = {"function": "registry.test/acme/ready", "version": ">=v0.0.0"}


def project(version: str = "v2alpha1", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"meta.dev.upbound.io/{version}",
        "kind": "Project",
        "metadata": {"name": "p"},
        "spec": {"repository": "registry.test/acme/p", **spec},
    }


def test_both_spellings_of_a_dependency_are_packages() -> None:
    parsed = parse_project(project(dependsOn=[NEWER, OLDER, {"configuration": "c", "version": "v2"}]))
    assert parsed.packages == ("registry.test/acme/lamps", "registry.test/acme/ready", "c")
    assert [(entry["xpkg"]["kind"], entry["xpkg"]["version"]) for entry in parsed.dependencies] == [
        ("Provider", "v1"),
        ("Function", ">=v0.0.0"),
        ("Configuration", "v2"),
    ]


def test_other_apis_come_after_packages() -> None:
    crd = {"type": "crd", "http": {"url": "https://example.org/crds.yaml"}}
    parsed = parse_project(project(dependsOn=[NEWER], apiDependencies=[crd]))
    assert parsed.dependencies[1] == crd


def test_its_models_are_in_the_folder_of_up_and_all_else_where_a_project_has_it() -> None:
    parsed = parse_project(project(paths={"apis": "kinds"}))
    assert (parsed.apis, parsed.functions, parsed.schemas) == ("kinds", "functions", ".up")
    assert (parsed.path("tests"), parsed.path("operations")) == ("tests", "operations")
    assert parsed.architectures == ("amd64", "arm64")


def test_its_mirrors_and_metadata_are_understood() -> None:
    mirror = {"matchImages": [{"prefix": "gcr.io/"}], "rewriteImage": {"prefix": "mirror.test/"}}
    added = {"meta.upbound.io/team": "lights"}
    parsed = parse_project(project(imageConfig=[mirror], additionalMetadata=added, maintainer="Ada"))
    assert parsed.spec["imageConfigs"][0]["spec"]["rewriteImage"] == {"prefix": "mirror.test/"}
    annotations = configuration_meta(parsed, [])["metadata"]["annotations"]
    assert annotations["meta.upbound.io/team"] == "lights"
    assert annotations["meta.crossplane.io/maintainer"] == "Ada"


@pytest.mark.parametrize(
    ("version", "spec", "constraint"),
    [
        ("v1alpha1", {}, None),
        ("v2alpha1", {}, {"version": ">=v2.0.0-rc.0"}),
        ("v1alpha1", {"crossplane": {"version": ">=v1.18"}}, {"version": ">=v1.18"}),
    ],
)
def test_the_older_version_requires_no_crossplane(version: str, spec: Any, constraint: Any) -> None:
    meta = configuration_meta(parse_project(project(version, **spec)), [])
    assert meta["spec"].get("crossplane") == constraint


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({"dependsOn": [{"version": "v1"}]}, "dependsOn 0: it must have either apiVersion, kind and package"),
        ({"dependsOn": [{**NEWER, **OLDER}]}, "dependsOn 0: it must have either"),
        ({"dependsOn": [{"provider": "p"}]}, "dependency 0: xpkg: version must not be empty"),
        ({"apiDependencies": [{"type": "crd"}]}, "dependency 0: exactly one source"),
        ({"repository": ""}, "repository must not be empty"),
        ({"architectures": []}, "architectures must not be empty"),
        ({"additionalMetadata": {"team": "x"}}, 'additionalMetadata key "team" must begin with'),
        ({"paths": {"tests": "/t"}}, "tests path must be relative"),
    ],
)
def test_an_invalid_project_is_refused_with_its_sentence(spec: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ProjectError) as refusal:
        parse_project(project(**spec))
    assert sentence in str(refusal.value)
