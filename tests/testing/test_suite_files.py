"""Suites that cannot be run are reported with the field and its line, without a traceback."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.suite_folder import XR, Folder, suite

CASE: dict[str, Any] = {"name": "it", "expect": {"resources": [{"name": "bucket"}]}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"casess": []}, "spec.casess: unknown field", id="an unknown field"),
        pytest.param({"cases": []}, "a suite needs at least one case", id="no case"),
        pytest.param({"cases": "x"}, "spec.cases: must be a list", id="no list"),
        pytest.param({"cases": ["x"]}, "spec.cases[0]: must be an object", id="no object"),
        pytest.param({"cases": [{"expect": {}}]}, "spec.cases[0].name: a case needs a name", id="no name"),
        pytest.param({"cases": [CASE, CASE]}, "the name of an earlier case", id="the same name twice"),
        pytest.param(
            {"cases": [{"name": "a b", "snapshot": True}, {"name": "a-B", "snapshot": True}]},
            'spec.cases[1].name: its snapshot would be that of "a b"',
            id="the same snapshot twice",
        ),
        pytest.param({"cases": [{"name": "it"}]}, "nothing is expected", id="nothing is expected"),
        pytest.param(
            {"cases": [{"name": "it", "expect": {"resource": []}}]},
            "spec.cases[0].expect.resource: unknown field; there are match,",
            id="a misspelt expectation",
        ),
        pytest.param(
            {"cases": [{"name": "it", "expect": {"resources": [{}]}}]},
            "which composed resource?",
            id="no name",
        ),
        pytest.param(
            {"cases": [{"name": "it", "expect": {"match": "Some"}}]}, "must be Subset or Exact", id="match"
        ),
        pytest.param(
            {"cases": [{"name": "it", "expect": {"conditions": [{}]}}]},
            "at least one of",
            id="empty condition",
        ),
        pytest.param(
            {"cases": [{**CASE, "rounds": [{"expect": {}}]}]}, "belongs into the rounds", id="both forms"
        ),
        pytest.param({"cases": [{"name": "it", "rounds": []}]}, "must be 1 to 100 rounds", id="no rounds"),
        pytest.param({"timeout": "soon"}, "time: invalid duration", id="no duration"),
        pytest.param({"timeout": "-1s"}, "must be more than 0", id="no time"),
        pytest.param(
            {"functionRuntime": "podman"}, "must be builtin or container or docker", id="no such runtime"
        ),
        pytest.param({"xr": 5}, "must be the path of a file, or an object", id="no source"),
        pytest.param({"observed": [5]}, "spec.observed[0]: must be the path", id="no source in a list"),
        pytest.param({"composition": "no.yaml"}, "no.yaml: no such file or directory", id="no file"),
        pytest.param({"xr": None}, "no composite resource", id="no composite resource"),
        pytest.param({"xr": {**XR, "kind": "Other"}}, "does not match XR's kind (Other)", id="another kind"),
        pytest.param({"xr": {"a": 1}}, "Object 'Kind' is missing", id="no object at all"),
        pytest.param({"xrd": {"kind": "x"}}, "", id="no definition"),
        pytest.param({"composition": {"kind": "Composition", "spec": 5}}, "CompositionSpec", id="misshapen"),
        pytest.param({"observed": [{"kind": "X"}]}, "has no annotation crossplane.io/", id="no annotation"),
        pytest.param({"requiredSchemas": "nowhere"}, "cannot load required schemas", id="no schemas"),
        pytest.param({"credentials": [{"kind": 5}]}, "", id="no secret"),
    ],
)
def test_an_invalid_suite_is_reported_with_its_place(
    folder: Folder, change: dict[str, Any], message: str
) -> None:
    spec = {**suite(CASE)["spec"], **change}
    folder.write("app_test.yaml", {**suite(CASE), "spec": spec})
    result = folder.run()
    assert result.code == 2, result.out
    assert message in result.out
    assert ":" in result.out.split("        at ")[1].splitlines()[0]


def test_a_suite_of_another_version_is_refused(folder: Folder) -> None:
    folder.write("app_test.yaml", {**suite(CASE), "apiVersion": "crossply.dev/v9"})
    result = folder.run()
    assert result.code == 2
    assert "apiVersion: must be crossply.dev/v1alpha1" in result.out
    assert "at app_test.yaml:1\n" in result.out


def test_broken_yaml_is_reported_with_its_line(folder: Folder) -> None:
    folder.write("app_test.yaml", "kind: CompositionTest\na: [\n")
    folder.suite(CASE, file="fine_test.yaml")
    result = folder.run()
    assert result.code == 2
    assert "! (the suite)" in result.out
    assert "        at app_test.yaml:" in result.out
    assert "1 passed, 1 broken" in result.out, "the others are run"
    assert "app_test.yaml:" in folder.run("--list").out


def test_one_broken_case_leaves_the_others_alone(folder: Folder) -> None:
    folder.suite({"name": "broken", "xr": "nowhere.yaml", "expect": {}}, CASE)
    result = folder.run()
    assert result.code == 2
    assert "1 passed, 1 broken in" in result.out


def test_no_suite_is_an_error(folder: Folder) -> None:
    result = folder.run()
    assert result.code == 2
    assert "no CompositionTest found in ." in result.err
    assert "crossply new test" in result.err


def test_suites_are_discovered_below_directories_by_their_kind(folder: Folder) -> None:
    folder.suite(CASE, file="apis/x/anything.yaml", composition="../../composition.yaml")
    folder.suite(CASE, file=".hidden/test.yaml")
    folder.write("templates.yaml", "{{ not YAML }}: [")
    result = folder.run("--list")
    assert (result.code, result.out) == (0, "apis/x/anything.yaml:17: it\n")
    assert folder.run("apis", "apis/x/anything.yaml").out.count("✓ it") == 1


def test_several_suites_may_share_a_file(folder: Folder) -> None:
    folder.suite(CASE)
    text = (folder.path / "app_test.yaml").read_text()
    folder.write("app_test.yaml", f"{text}---\n{text.replace('name: it', 'name: other')}")
    result = folder.run()
    assert result.code == 0
    assert "✓ it" in result.out
    assert "✓ other" in result.out


def test_everything_a_suite_names_is_beside_it(folder: Folder) -> None:
    environment = {
        "apiVersion": "apiextensions.crossplane.io/v1beta1",
        "kind": "EnvironmentConfig",
        "metadata": {"name": "shared"},
        "data": {"region": "mars"},
    }
    reads = {
        "apiVersion": "environmentconfigs.fn.crossplane.io/v1beta1",
        "kind": "Input",
        "spec": {"environmentConfigs": [{"type": "Reference", "ref": {"name": "shared"}}]},
    }
    steps = [{"step": "env", "functionRef": {"name": "function-environment-configs"}, "input": reads}]
    composition = {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "apps"},
        "spec": {
            "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "App"},
            "mode": "Pipeline",
            "pipeline": steps,
        },
    }
    folder.write("a/environment.yaml", environment)
    folder.write("a/xr.yaml", XR)
    expect = {"context": {"apiextensions.crossplane.io/environment": {"region": "mars"}, "given": {"by": 1}}}
    folder.suite(
        {"name": "it", "expect": expect},
        file="a/app_test.yaml",
        composition=composition,
        xr="xr.yaml",
        requiredResources="environment.yaml",
        context={"given": {"by": 1}},
    )
    result = folder.run("a")
    assert result.code == 0, result.out
