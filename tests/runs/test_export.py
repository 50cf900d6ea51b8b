"""An exported run is a directory that `render` and `test` take, and that gives the recorded result."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from crossply.cli.main import main
from crossply.compose.effects import ApplyComposed, FetchSchema, WriteStatus
from crossply.compose.function_messages import SchemaSelector
from crossply.compose.in_memory_cluster import CallFunction
from crossply.functions.function_set import Runners
from crossply.kinds.composition import parse_composition
from crossply.kinds.definition import parse_definition
from crossply.rendering.available_functions import available_functions
from crossply.rendering.running_functions import caller
from crossply.runs.composition_manifest import composition_manifest
from crossply.runs.export import export_files
from crossply.runs.model import Exchange, Run
from crossply.values import Object
from crossply.values.yaml import read_documents
from tests.support.runs.in_memory_runs import InMemoryPlane

XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "App",
    "metadata": {"name": "web", "namespace": "apps", "uid": "u-1", "generation": 1},
    "spec": {"size": 3},
}
ENVIRONMENT: Object = {
    "apiVersion": "apiextensions.crossplane.io/v1beta1",
    "kind": "EnvironmentConfig",
    "metadata": {"name": "eu"},
    "data": {"region": "eu-1"},
}
TEMPLATE = """
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: settings
data:
  size: "{{ .observed.composite.resource.spec.size }}"
  region: {{ index .context "apiextensions.crossplane.io/environment" "region" }}
---
apiVersion: example.org/v1
kind: App
status:
  region: {{ index .context "apiextensions.crossplane.io/environment" "region" }}
"""
COMPOSITION: Object = {
    "apiVersion": "apiextensions.crossplane.io/v1",
    "kind": "Composition",
    "metadata": {"name": "apps", "labels": {"team": "web"}},
    "spec": {
        "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "App"},
        "mode": "Pipeline",
        "pipeline": [
            {
                "step": "environment",
                "functionRef": {"name": "function-environment-configs"},
                "input": {
                    "apiVersion": "environmentconfigs.fn.crossplane.io/v1beta1",
                    "kind": "Input",
                    "spec": {"environmentConfigs": [{"type": "Reference", "ref": {"name": "eu"}}]},
                },
            },
            {
                "step": "compose",
                "functionRef": {"name": "function-go-templating"},
                "input": {
                    "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
                    "kind": "GoTemplate",
                    "source": "Inline",
                    "inline": {"template": TEMPLATE},
                },
            },
            {"step": "ready", "functionRef": {"name": "function-auto-ready"}},
        ],
    },
}
DEFINITION: Object = {
    "apiVersion": "apiextensions.crossplane.io/v2",
    "kind": "CompositeResourceDefinition",
    "metadata": {"name": "apps.example.org", "annotations": {"crossply.dev/show-cause": "true"}},
    "spec": {
        "group": "example.org",
        "names": {"kind": "App", "plural": "apps"},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "served": True, "referenceable": True}],
    },
}
NAMES = [step["functionRef"]["name"] for step in COMPOSITION["spec"]["pipeline"]]
FUNCTIONS = available_functions([], NAMES, None, lambda source, _: source)


@pytest.fixture(scope="module")
def call() -> Iterator[CallFunction]:
    with Runners(FUNCTIONS) as runners:
        yield caller(runners, 60)


@pytest.fixture(scope="module")
def run(call: CallFunction) -> Run:
    return InMemoryPlane(XR, COMPOSITION, call, [ENVIRONMENT]).run()


@pytest.fixture
def exported(run: Run, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The files of the run, in the working directory."""
    monkeypatch.chdir(tmp_path)
    files = export_files(run, FUNCTIONS)
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    return files


def test_render_gives_the_recorded_resources(
    run: Run, exported: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    command = next(line for line in exported["README.md"].splitlines() if "crossply render" in line)
    assert main(command.split()[1:]) == 0
    _, *composed = [document.value for document in read_documents(capsys.readouterr().out)]
    applied = [e.effect for e in run.world.exchanges if isinstance(e.effect, ApplyComposed)][-1]
    assert composed == [resource.object for resource in applied.composed]


def test_its_test_passes_and_can_fail(
    exported: dict[str, str], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["test"]) == 0
    assert "1 passed" in capsys.readouterr().out
    (tmp_path / "composition.yaml").write_text(exported["composition.yaml"].replace("region: {{", "zone: {{"))
    assert main(["test"]) == 1
    assert "data.region" in capsys.readouterr().out


def test_the_cause_that_a_definition_has_shown_is_not_expected_of_render(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = {"type": "MatchString", "fieldPath": "data.state", "matchString": "up"}
    base = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"state": "down"}}
    resources = [{"name": "one", "base": base, "readinessChecks": [never]}]
    patch_and_transform = {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources"}
    step = {
        "step": "compose",
        "functionRef": {"name": "function-patch-and-transform"},
        "input": {**patch_and_transform, "resources": resources},
    }
    composition = {**COMPOSITION, "spec": {**COMPOSITION["spec"], "pipeline": [step]}}
    functions = available_functions([], ["function-patch-and-transform"], None, lambda source, _: source)
    with Runners(functions) as runners:
        plane = InMemoryPlane(XR, composition, caller(runners, 60))
        plane.definition = parse_definition(DEFINITION)
        run = plane.run()
    status = next(e.effect.status for e in run.world.exchanges if isinstance(e.effect, WriteStatus))
    assert any("; cause: ConfigMap/" in entry.get("message", "") for entry in status["conditions"])
    monkeypatch.chdir(tmp_path)
    for path, text in export_files(run, functions).items():
        (tmp_path / path).write_text(text)
    assert "Unready resources: one" in (tmp_path / "run_test.yaml").read_text()
    assert main(["test"]) == 0


def test_a_run_that_failed_is_exported_as_a_test_that_expects_the_failure(
    call: CallFunction, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = InMemoryPlane(XR, COMPOSITION, call).run()  # the EnvironmentConfig is missing
    monkeypatch.chdir(tmp_path)
    for path, text in export_files(run, FUNCTIONS).items():
        (tmp_path / path).write_text(text)
    assert "failure: " in (tmp_path / "run_test.yaml").read_text()
    assert main(["test"]) == 0


def test_the_readme_states_that_secrets_are_placeholders(run: Run) -> None:
    assert (
        "2 secret values were not recorded" in export_files(run._replace(redacted=2), FUNCTIONS)["README.md"]
    )
    assert "secret" not in export_files(run, FUNCTIONS)["README.md"]


def _with_schemas(run: Run, *selectors: SchemaSelector) -> Run:
    """The run, as if a function had asked for schemas, and got them."""
    fetched = tuple(Exchange(FetchSchema(selector), {"type": "object"}) for selector in selectors)
    return run._replace(world=run.world._replace(exchanges=(*run.world.exchanges, *fetched)))


@pytest.mark.parametrize("kind", ["../../up", "/etc/passwd", "a/b", "..", "a\\0b", "X\n"])
def test_a_kind_cannot_place_a_file_elsewhere(run: Run, kind: str) -> None:
    files = export_files(_with_schemas(run, SchemaSelector("example.org/v1", kind)), FUNCTIONS)
    [name] = [path.removeprefix("schemas/") for path in files if path.startswith("schemas/")]
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert not name.startswith(".")


def test_kinds_of_the_same_name_have_a_schema_each(run: Run) -> None:
    selectors = SchemaSelector("a.example/v1", "App"), SchemaSelector("b.example/v1", "App")
    files = export_files(_with_schemas(run, *selectors), FUNCTIONS)
    assert {path for path in files if path.startswith("schemas/")} == {
        "schemas/app-a-example-v1.json",
        "schemas/app-b-example-v1.json",
    }


def test_a_composition_is_written_as_it_was_read() -> None:
    step = {
        **COMPOSITION["spec"]["pipeline"][0],
        "credentials": [{"name": "c", "source": "Secret", "secretRef": {"namespace": "n", "name": "s"}}],
        "requirements": {
            "requiredResources": [
                {"requirementName": "r", "apiVersion": "v1", "kind": "ConfigMap", "matchLabels": {"a": "b"}}
            ],
            "requiredSchemas": [{"requirementName": "s", "apiVersion": "v1", "kind": "Pod"}],
        },
        "functionRevisionSelector": {"matchLabels": {"channel": "stable"}},
        "maxIterations": 3,
        "allowedExtraResources": [{"apiVersion": "v1", "kind": "ConfigMap", "matchName": "a.*"}],
    }
    pipeline = {**COMPOSITION, "spec": {**COMPOSITION["spec"], "pipeline": [step]}}
    templates = {
        **COMPOSITION,
        "spec": {
            "compositeTypeRef": COMPOSITION["spec"]["compositeTypeRef"],
            "mode": "Resources",
            "patchSets": [{"name": "p", "patches": []}],
            "resources": [{"name": "a", "base": {"apiVersion": "v1", "kind": "ConfigMap"}}],
            "functions": [{"name": "f", "type": "Container", "container": {"image": "example.org/f:v1"}}],
            "writeConnectionSecretsToNamespace": "secrets",
        },
    }
    for written in (pipeline, templates):
        parsed = parse_composition(written)
        assert parse_composition(composition_manifest(parsed)) == parsed
