"""A Function that is a Python file: in this process, and as a process of its own."""

from __future__ import annotations

import json
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml

from crossply.compose.function_messages import Request, Resource, State
from crossply.control.calls.endpoint import Endpoint
from crossply.control.calls.pipeline_function_calls import PipelineFunctions
from crossply.control.calls.runner_factory import RunnerFactory
from crossply.functions.binding import bind, choose_runtime
from crossply.functions.failures import FunctionNotBound, FunctionTimedOut, RuntimeAnnotationError
from crossply.functions.host_access_policy import HostAccess, HostAccessRefused
from crossply.functions.local_process import LocalProcess
from crossply.functions.python_file import PythonFile
from tests.support.function_servers import CROSSPLY

FILE = """
import os, time
from crossply.sdk import function

@function
def compose(req, rsp):
    while req.xr["spec"].get("spin"):
        pass
    rsp.desired["made"] = {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": req.xr.name},
        "data": {"pid": str(os.getpid()), "count": str(req.xr["spec"]["count"] + 1)},
    }
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my function.py"
    path.write_text(FILE)
    return path


def function(**annotations):
    named = {f"crossply.dev/{key}": value for key, value in annotations.items()}
    return {
        "metadata": {"name": "f", "annotations": named},
        "spec": {"package": "r.example.org/function-f:v1"},
    }


def new_request(**spec):
    return Request(State(Resource({"metadata": {"name": "x"}, "spec": {"count": 1.0, **spec}})))


def test_a_file_is_run_in_process_or_as_a_process_on_request(file):
    assert choose_runtime(function(file=str(file))) == "file"
    runner = bind(function(file=str(file)))
    assert isinstance(runner, PythonFile)
    assert runner(new_request(), 10).desired.resources["made"].object["data"]["count"] == "2"
    assert isinstance(bind(function(file=str(file), runtime="process")), LocalProcess)
    with pytest.raises(RuntimeAnnotationError, match="is required"):
        bind(function(runtime="file"))
    runner.close()


def test_an_endless_function_is_stopped(file):
    runner = bind(function(file=str(file)))
    with pytest.raises(FunctionTimedOut, match='cannot run Function "f": still running'):
        runner(new_request(spin=True), 0.5)
    assert runner(new_request(), 10).desired.resources
    runner.close()


def test_a_file_that_cannot_be_loaded_is_reported_and_retried(file):
    file.write_text("def broken(:")
    runner = bind(function(file=str(file)))
    with pytest.raises(FunctionNotBound, match=r"my function\.py:1: invalid syntax"):
        runner(new_request(), 10)
    file.write_text(FILE)
    assert runner(new_request(), 10).desired.resources
    runner.close()


def test_a_control_plane_runs_files_only_where_allowed(file):
    annotations = {"crossply.dev/file": str(file)}
    endpoint = Endpoint("f", "r.example.org/function-f:v1", annotations=tuple(annotations.items()))
    with pytest.raises(HostAccessRefused, match=r'annotation "crossply\.dev/file" names a Python file'):
        RunnerFactory().open(endpoint, PipelineFunctions())
    factory = RunnerFactory(check_host_access=HostAccess((str(file.parent),)).check)
    factory.open(endpoint, PipelineFunctions()).close()


COMPOSITION = """
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: c}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: XR}
  mode: Pipeline
  pipeline:
  - step: one
    functionRef: {name: f}
"""
XR = """
apiVersion: example.org/v1
kind: XR
metadata: {name: x}
spec: {count: 4}
"""


PRINTING = (
    f"print('while it is imported')\n{FILE}    import sys; print('hello'); sys.stdout.write('and more\\n')\n"
)


@pytest.mark.parametrize("runtime", ["file", "process"])
def test_the_output_of_a_function_is_not_in_the_output_of_render(file, runtime):
    file.write_text(PRINTING)
    done = rendered(file, runtime)
    assert done.returncode == 0, done.stderr
    assert [document["kind"] for document in yaml.safe_load_all(done.stdout)] == ["XR", "ConfigMap"]
    if runtime == "file":
        assert done.stderr.splitlines() == ["while it is imported", "hello", "and more"]


def test_functions_that_print_at_the_same_time_leave_stdout_as_it_was(file, capsys):
    file.write_text(PRINTING.replace("import sys;", "import sys; time.sleep(0.01);"))
    runner = bind(function(file=str(file)))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: runner(new_request(), 10), range(12)))
    runner.close()
    print("an answer")
    captured = capsys.readouterr()
    assert captured.out == "an answer\n"


@pytest.mark.parametrize("runtime", ["file", "process"])
def test_render_runs_a_file(file, runtime):
    done = rendered(file, runtime)
    assert done.returncode == 0, done.stderr
    config_map = next(
        document for document in yaml.safe_load_all(done.stdout) if document["kind"] == "ConfigMap"
    )
    assert config_map["data"]["count"] == "5"


def rendered(file, runtime):
    written = {
        "xr.yaml": XR,
        "composition.yaml": COMPOSITION,
        "functions.yaml": json.dumps(
            {
                "apiVersion": "pkg.crossplane.io/v1",
                "kind": "Function",
                **function(file=file.name, runtime=runtime),
            }
        ),
    }
    for name, text in written.items():
        (file.parent / name).write_text(text)
    return subprocess.run(
        [CROSSPLY, "render", *written], cwd=file.parent, capture_output=True, text=True, timeout=60
    )


DEFINITION = """
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: xrs.example.org}
spec:
  group: example.org
  names: {kind: XR, plural: xrs}
  scope: Cluster
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""


@pytest.mark.xdist_group("e2e")
@pytest.mark.parametrize("runtime", ["file", "process"])
def test_a_control_plane_on_this_machine_runs_a_file_and_follows_its_edits(control_plane, file, runtime):
    namespaced = FILE.replace('"name": req.xr.name', '"name": req.xr.name, "namespace": "default"')
    file.write_text(namespaced)
    function_package = {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        **function(file=str(file), runtime=runtime),
    }
    control_plane.apply(DEFINITION, function_package, COMPOSITION, XR)
    xr = {"apiVersion": "example.org/v1", "kind": "XR", "metadata": {"name": "x"}}
    control_plane.wait_until(xr, "Synced")
    (composed,) = control_plane.composed(control_plane.get(xr))
    assert composed["data"]["count"] == "5"
    file.write_text(namespaced.replace('["count"] + 1', '["count"] + 100'))
    control_plane.wait_until(composed, lambda config_map: config_map["data"]["count"] == "104")
    file.write_text("def broken(:")
    time.sleep(1.5)  # in which the broken file is seen
    assert control_plane.get(composed)["data"]["count"] == "104"
    file.write_text(namespaced)
    control_plane.wait_until(composed, lambda config_map: config_map["data"]["count"] == "5")
