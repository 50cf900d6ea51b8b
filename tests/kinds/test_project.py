"""A project file is parsed, or its errors are reported."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.kinds.project import ProjectError, parse_project


def project(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "dev.crossplane.io/v1alpha1",
        "kind": "Project",
        "metadata": {"name": "p"},
        "spec": {"repository": "registry.test/p", **spec},
    }


def test_a_project_has_a_place_for_its_apis_and_depends_on_packages() -> None:
    package = {"apiVersion": "a", "kind": "Function", "package": "registry.test/f", "version": "v1"}
    dependencies = [{"type": "xpkg", "xpkg": package}, {"type": "k8s", "k8s": {"version": "v1.33.0"}}]
    parsed = parse_project(project(dependencies=dependencies, paths={"apis": "kinds"}))
    assert (parsed.name, parsed.repository, parsed.apis) == ("p", "registry.test/p", "kinds")
    assert parsed.packages == ("registry.test/f",)
    assert parsed.dependencies == tuple(dependencies)
    assert parse_project(project()).apis == "apis"


def test_a_project_names_the_folders_of_its_functions_and_models() -> None:
    parsed = parse_project(project(paths={"schemas": "m"}, schemas={"languages": ["python"]}))
    assert (parsed.functions, parsed.schemas, parsed.languages) == ("functions", "m", ("python",))


@pytest.mark.parametrize(
    ("original", "sentence"),
    [
        ({}, 'unsupported project apiVersion "", expected "dev.crossplane.io/v1alpha1"'),
        ({**project(), "kind": "Other"}, 'unsupported project kind "Other", expected "Project"'),
        ({**project(), "metadata": {}}, "invalid project file: name must not be empty"),
        (project(repository=""), "invalid project file: repository must not be empty"),
        (project(paths={"apis": "/x"}), "invalid project file: apis path must be relative"),
        (
            project(dependencies=[{"type": "xpkg"}]),
            "invalid project file: dependency 0: exactly one source (xpkg, git, http, or k8s) must be "
            "specified",
        ),
        (
            project(dependencies=[{"http": {}}]),
            "invalid project file: dependency 0: type must not be empty\nhttp: url must not be empty",
        ),
        (
            project(repository=[]),
            "failed to parse project file: error unmarshaling JSON: while decoding JSON: json: cannot "
            "unmarshal array into Go struct field ProjectSpec.spec.repository of type string",
        ),
    ],
)
def test_an_invalid_project_is_refused(original: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ProjectError) as refused:
        parse_project(original)
    assert str(refused.value) == sentence
