"""The pytest plugin, used as its users do: in a project of its own."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

from tests.support.suite_folder import COMPOSITION

pytest_plugins = ["pytester"]

XRD = """\
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: apps.example.org}
spec:
  group: example.org
  names: {kind: App, plural: apps}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, default: 7}
              cdn: {type: string, default: big}
          status:
            type: object
            properties:
              url: {type: string}
"""
HEAD = """
XR = {"apiVersion": "example.org/v1", "kind": "App", "metadata": {"name": "shop", "namespace": "team"},
      "spec": {"size": 3, "cdn": "small"}}
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    # Plugins that happen to be installed beside ours take seconds to start, and load what ours must not.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (pytester.path / "composition.yaml").write_text(COMPOSITION)
    (pytester.path / "xrd.yaml").write_text(XRD)
    return pytester


def run(project: pytest.Pytester, code: str, **outcomes: int) -> pytest.RunResult:
    project.makepyfile(HEAD + code)
    result = project.runpytest_subprocess("-q", "-p", "crossply.pytest_plugin", "-W", "error")
    result.assert_outcomes(**outcomes)
    return result


def test_the_fixture_returns_the_output_of_render(project: pytest.Pytester) -> None:
    code = """
def test_it(render):
    rendered = render(XR, "composition.yaml")
    assert rendered.resources["bucket"]["spec"]["size"] == 3
    assert rendered.conditions["Ready"]["status"] == "False"
    assert rendered.unready == ("bucket", "cdn")
    assert ("Normal", "Successfully selected composition: apps") in rendered.results
    assert rendered.problem is None
    rendered.expect(resources=[{"name": "cdn", "object": {"spec": {"plan": "small"}}}])

def test_defaults_and_text(render):
    rendered = render({**XR, "spec": {}}, xrd="xrd.yaml")
    assert rendered.resources["bucket"]["spec"]["size"] == 7

def test_again(render):
    first = render(XR)
    second = first.again(ready="*", status={"bucket": {"url": "https://x"}})
    second.expect(unchanged=True, composite={"status": {"url": "https://x"}})
    assert second.conditions["Ready"]["status"] == "True"
    third = second.again(gone=["cdn"], xr={"spec": {"size": 9}})
    assert third.unready == ("cdn",)
    assert third.resources["bucket"]["spec"]["size"] == 9

def test_failure(render):
    rendered = render({**XR, "spec": {}})
    assert "spec.cdn is missing" in str(rendered.problem)
    assert rendered.conditions["Synced"]["status"] == "False"
    rendered.expect(failure="spec.cdn is missing")
"""
    run(project, code, passed=4)


def test_a_mismatch_is_shown_field_by_field(project: pytest.Pytester) -> None:
    code = """
def test_it(render):
    render(XR).expect(resources=[{"name": "bucket", "object": {"spec": {"region": "us"}}}])

def test_fails(render):
    render({**XR, "spec": {}}).resources
"""
    result = run(project, code, failed=2)
    shown = ["*resource bucket: spec.region*", "*- expected: us*", "*+ actual:   eu*"]
    result.stdout.fnmatch_lines(shown)
    result.stdout.fnmatch_lines(["*StepFailed: *spec.cdn is missing*"])


def test_snapshots_are_stored_beside_the_test(project: pytest.Pytester) -> None:
    code = """
def test_it(render):
    render(XR).expect_snapshot().again(ready="*").expect_snapshot("ready")
"""
    run(project, code, failed=1).stdout.fnmatch_lines(["*there is no snapshot *--crossply-update*"])
    snapshots = project.path / "test_snapshots_are_stored_beside_the_test.snapshots"
    project.runpytest_subprocess("-p", "crossply.pytest_plugin", "--crossply-update").assert_outcomes(
        passed=1
    )
    assert sorted(path.name for path in snapshots.iterdir()) == ["test-it-ready.yaml", "test-it.yaml"]
    run(project, code, passed=1)
    (project.path / "composition.yaml").write_text(COMPOSITION.replace("region: eu", "region: us"))
    expected = ["*resource bucket: spec.region*", "*- expected: eu*", "*+ actual:   us*", "*test-it.yaml:*"]
    run(project, code, failed=1).stdout.fnmatch_lines(expected)


def test_functions_may_be_written_in_the_test(project: pytest.Pytester) -> None:
    code = """
from crossply.sdk import function

COMPOSITION = '''
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: apps}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: App}
  mode: Pipeline
  pipeline:
  - step: one
    functionRef: {name: mine}
  - step: ready
    functionRef: {name: function-auto-ready}
'''

@function
def mine(req, rsp):
    name = req.xr["metadata"]["name"]
    rsp.desired["map"] = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"name": name}}

def test_it(render):
    rendered = render(XR, COMPOSITION, {"mine": mine})
    assert rendered.resources["map"]["data"] == {"name": "shop"}
"""
    run(project, code, passed=1)


ON_A_CONTROL_PLANE = """
import pytest

FUNCTIONS = ["patch-and-transform", "auto-ready", "go-templating"]
MAP = '''
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: maps}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: App}
  mode: Pipeline
  pipeline:
  - step: compose
    functionRef: {name: function-patch-and-transform}
    input:
      apiVersion: pt.fn.crossplane.io/v1beta1
      kind: Resources
      resources:
      - name: map
        base: {apiVersion: v1, kind: ConfigMap}
        patches:
        - {fromFieldPath: spec.cdn, toFieldPath: data.cdn}
        readinessChecks: [{type: None}]
'''
FUNCTION = {
    "apiVersion": "pkg.crossplane.io/v1",
    "kind": "Function",
    "metadata": {"name": "function-patch-and-transform"},
    "spec": {"package": "xpkg.crossplane.io/crossplane-contrib/function-patch-and-transform:v0.9.0"},
}

def test_it_composes(control_plane):
    control_plane.apply("xrd.yaml", FUNCTION, MAP, XR)
    xr = control_plane.wait_until(XR, "Ready")
    (composed,) = control_plane.composed(xr)
    assert composed["data"] == {"cdn": "small"}
    assert [obj["metadata"]["name"] for obj in control_plane.list("v1", "ConfigMap", "team")]
    patched = control_plane.set_status(xr, {"url": "https://x"})
    assert patched["status"]["url"] == "https://x"
    ready = control_plane.set_ready(xr)["status"]["conditions"]
    reasons = {entry["type"]: entry["reason"] for entry in ready}
    assert reasons == {"Ready": "Available", "Synced": "Available"}

def test_a_function_of_the_test(control_plane):
    from crossply.sdk import function

    @function
    def greet(req, rsp):
        data = {"cdn": req.xr["spec"]["cdn"]}
        rsp.desired["text"] = {"apiVersion": "v1", "kind": "ConfigMap", "data": data}
        rsp.desired["text"].ready = True

    control_plane.serve("greet", greet)
    greeted = MAP.replace("name: maps", "name: greet").replace("function-patch-and-transform", "greet")
    control_plane.apply(greeted)
    spec = {"cdn": "mine", "crossplane": {"compositionRef": {"name": "greet"}}}
    xr = {**XR, "metadata": {"name": "greeted", "namespace": "team"}, "spec": spec}
    control_plane.apply(xr)
    (composed,) = control_plane.composed(control_plane.wait_until(xr, "Ready"))
    assert composed["data"] == {"cdn": "mine"}
    control_plane.delete(xr)

def test_the_module_shares_it(control_plane):
    assert control_plane.get(XR)["spec"]["size"] == 3
    control_plane.delete(XR)
    assert control_plane.get(XR) is None
    assert control_plane.get("nowhere.org/v1", "Nothing", "x") is None

def test_waiting_ends(control_plane):
    from crossply.pytest_plugin.control_plane import NotInTime
    with pytest.raises(NotInTime, match="condition Ready did not come true in 0.1 s of App shop, which"):
        control_plane.wait_until(XR, "Ready", timeout=0.1)
"""


def test_a_control_plane_composes_applied_resources(project: pytest.Pytester) -> None:
    run(project, ON_A_CONTROL_PLANE, passed=4)


def test_suites_without_it_load_nothing_and_keep_their_own_fixtures(project: pytest.Pytester) -> None:
    code = """
import sys
import pytest

@pytest.fixture
def render():
    return "mine"

def test_it(render):
    assert render == "mine"
    loaded = sorted(name for name in sys.modules if name.startswith("crossply"))
    assert loaded == ["crossply", "crossply.pytest_plugin"]
    heavy = {"grpc", "aiohttp", "yaml"}
    if sys.version_info < (3, 14):  # pytest itself imports it there
        heavy.add("asyncio")
    assert not heavy & set(sys.modules)
"""
    run(project, code, passed=1)


def test_pytest_discovers_it() -> None:
    (plugin,) = (
        entry_point for entry_point in entry_points(group="pytest11") if entry_point.name == "crossply"
    )
    assert plugin.value == "crossply.pytest_plugin"
