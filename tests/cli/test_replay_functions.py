"""The functions that a run is replayed with: from directories and files, in this process."""

from __future__ import annotations

import os
import pathlib

import pytest

from crossply.cli.framework.command import UsageError
from crossply.cli.runs.replay_functions import calling, check_names, functions_in_directories, with_built_in
from crossply.compose.function_messages import Request, Response, respond
from crossply.errors import CrossplyError
from crossply.kinds.composition import Step
from crossply.runs.effect_differences import compare_effects
from crossply.runs.model import Run
from crossply.runs.replay import FunctionMissing, recorded_effects, replay
from crossply.values import Object
from tests.support.runs.in_memory_runs import InMemoryPlane

XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "App",
    "metadata": {"name": "web", "namespace": "apps", "uid": "u-1", "generation": 1},
    "spec": {"size": "3"},
}
COMPOSITION: Object = {
    "apiVersion": "apiextensions.crossplane.io/v1",
    "kind": "Composition",
    "metadata": {"name": "apps"},
    "spec": {
        "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "App"},
        "mode": "Pipeline",
        "pipeline": [
            {"step": "first", "functionRef": {"name": "function-first"}},
            {"step": "web", "functionRef": {"name": "function-web"}},
        ],
    },
}
PYTHON = """
import os
from crossply.sdk import function

@function
def compose(req, rsp):
    rsp.desired["pid"] = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"pid": str(os.getpid())}}
"""
TEMPLATE = """
apiVersion: v1
kind: ConfigMap
metadata: {annotations: {gotemplating.fn.crossplane.io/composition-resource-name: templated}}
data: {size: "{{ .observed.composite.resource.spec.size }}"}
"""


@pytest.fixture(scope="module")
def run() -> Run:
    """A run whose functions composed nothing, so that every composed resource is a difference."""

    def pass_on(step: Step, request: Request) -> Response:
        return respond(request)

    return InMemoryPlane(XR, COMPOSITION, pass_on).run()


def added_by(run: Run, place: pathlib.Path | str) -> dict[str, Object]:
    """What is composed now, with one function of a directory and the recorded responses of the other."""
    functions = functions_in_directories({"function-web": str(place)})
    with calling(functions, 60, run.world, {"function-first"}) as call:
        replayed = replay(run.world, call)
    differences = compare_effects(recorded_effects(run.world), replayed.effects)
    return {
        effect.target.partition(" ")[0]: effect.after for effect in differences if effect.verb == "applied"
    }


def test_a_python_function_of_a_directory_runs_in_this_process(run: Run, tmp_path: pathlib.Path) -> None:
    (tmp_path / "main.py").write_text(PYTHON)
    assert added_by(run, tmp_path)["pid"]["data"] == {"pid": str(os.getpid())}


def test_a_python_file_is_a_function_too(run: Run, tmp_path: pathlib.Path) -> None:
    (tmp_path / "fn.py").write_text(PYTHON)
    assert added_by(run, f"{tmp_path / 'fn.py'}:compose")["pid"]["data"] == {"pid": str(os.getpid())}


def test_a_directory_of_templates_is_a_function(run: Run, tmp_path: pathlib.Path) -> None:
    (tmp_path / "settings.gotmpl").write_text(TEMPLATE)
    assert added_by(run, tmp_path)["templated"]["data"] == {"size": "3"}


def test_a_missing_directory_is_a_usage_error(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match=r"--function: there is no .*nowhere"):
        functions_in_directories({"function-web": str(tmp_path / "nowhere")})


def test_a_directory_without_a_function_explains_the_expected_files(tmp_path: pathlib.Path) -> None:
    with pytest.raises(CrossplyError) as raised:
        functions_in_directories({"function-web": str(tmp_path)})
    assert "main.py" in raised.value.hint


def test_an_unknown_function_gives_a_hint_about_flags() -> None:
    assert [function["metadata"]["name"] for function in with_built_in([], {"function-auto-ready"})] == [
        "function-auto-ready"
    ]
    with pytest.raises(FunctionMissing, match='"function-web"') as raised:
        with_built_in([], {"function-auto-ready", "function-web"})
    assert "--function NAME=DIR" in raised.value.hint


def test_a_function_that_no_step_calls_is_refused() -> None:
    check_names({"function-web": "."}, {"function-web", "function-first"})
    with pytest.raises(
        UsageError, match=r'no step calls "nope".* calls the functions function-first, function-web'
    ):
        check_names({"nope": "."}, {"function-web", "function-first"})
