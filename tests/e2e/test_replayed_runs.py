"""Runs that a control plane recorded have the same effects when they are replayed, byte by byte."""

from __future__ import annotations

import asyncio
import pathlib
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

from crossply.cli.main import main
from crossply.cli.runs.replay_functions import calling as calling_functions
from crossply.cli.runs.replay_functions import functions_of_cluster, with_built_in
from crossply.control.kinds import OPERATION
from crossply.functions.host_access_policy import HostAccess
from crossply.kinds.composition import Composition, parse_composition
from crossply.kube.config import ClusterConfig
from crossply.kube.kind import Kind
from crossply.runs.client import RunClient
from crossply.runs.composition_manifest import composition_manifest
from crossply.runs.effect_differences import compare_effects, encoded
from crossply.runs.export import export_files
from crossply.runs.model import APPLIED, PUBLISHED, Run
from crossply.runs.recorded_pipeline import called_functions, composition_of
from crossply.runs.replay import Replayed, recorded_effects, replay
from crossply.values import Object
from tests.support.e2e.pipelines import SIZE, calling, entry, patch, resources
from tests.support.e2e.scenario import COMPOSITION, CONFIG_MAP, Scenario, scenario_on
from tests.support.e2e.things import SYNCED, Things
from tests.support.function_servers import CROSSPLY, started
from tests.support.ports import free_port

pytestmark = pytest.mark.xdist_group("e2e")

ENVIRONMENT = "apiextensions.crossplane.io/environment"
EXTRA = "apiextensions.crossplane.io/extra-resources"
SDK = """
from crossply.sdk import function


@function
def compose(req, rsp):
    size = req.xr["spec"]["size"]
    rsp.desired["external"] = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"size": size * 2}}
    rsp.desired["external"].ready = True
    rsp.xr.status["size"] = size
"""
PYTHON = """
from crossplane.function import resource

def compose(req, rsp):
    spec = resource.struct_to_dict(req.observed.composite.resource)["spec"]
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"size": spec["size"] * 2}}
    resource.update(rsp.desired.resources["python"], body)
    rsp.desired.resources["python"].ready = True
"""
STARLARK = """
size = oxr["spec"]["size"]
Resource("starlark", {"apiVersion": "v1", "kind": "ConfigMap", "data": {"size": size}}, ready = True)
set_xr_status("size", get_observed("starlark", "data.size", "none"))
"""
TEMPLATE = """
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: templated
    gotemplating.fn.crossplane.io/ready: "True"
data:
  size: {{ .observed.composite.resource.spec.size | quote }}
  text: {{ %s | toJson | quote }}
"""
HOOK = {
    "matchers": [{"resources": [{"name": "."}], "includeCompositeAsResource": True}],
    "setConditions": [{"condition": {"type": "Seen", "status": "True", "reason": "Looked"}}],
}
DUMMY = {
    "desired": {
        "resources": {"dummy": {"resource": {"apiVersion": "v1", "kind": "ConfigMap"}, "ready": "READY_TRUE"}}
    },
    "results": [{"severity": "SEVERITY_NORMAL", "message": "I did the thing!"}],
}
ONE = resources(entry("one", SIZE, patch("data.size", "status.size", "ToCompositeFieldPath")))


def step(name: str, /, **fields: Any) -> Object:
    """A step that calls a built-in function with this input."""
    about = {"apiVersion": "example.org/v1", "kind": "Input"}
    return {"step": name, "functionRef": {"name": f"function-{name}"}, "input": {**about, **fields}}


def templating(data: str) -> Object:
    """A step that composes a ConfigMap with some of the data of a template in it."""
    return step("go-templating", source="Inline", inline={"template": TEMPLATE % data})


def reading(namespace: str) -> dict[str, Object]:
    """The input of a step that fetches a ConfigMap of a namespace."""
    reference = {"kind": "ConfigMap", "apiVersion": "v1", "into": "texts", "type": "Reference"}
    return {"extraResources": [{**reference, "ref": {"name": "texts"}, "namespace": namespace}]}


def pipelines(namespace: str) -> dict[str, list[Object]]:
    """For every built-in function a pipeline that it is in."""
    environment = {"type": "Reference", "ref": {"name": namespace}}
    return {
        "patch-and-transform": [ONE],
        "go-templating": [templating(".observed.composite.resource.spec")],
        "starlark": [step("starlark", spec={"source": STARLARK})],
        "python": [step("python", script=PYTHON)],
        "auto-ready": [resources(entry("one", SIZE)), step("auto-ready")],
        "environment-configs": [
            step("environment-configs", spec={"environmentConfigs": [environment]}),
            templating(f'index .context "{ENVIRONMENT}"'),
        ],
        "extra-resources": [
            step("extra-resources", spec=reading(namespace)),
            templating(f'(index (index .context "{EXTRA}") "texts" 0).data'),
        ],
        "sequencer": [
            resources(entry("first", SIZE), entry("second", SIZE)),
            step("sequencer", rules=[{"sequence": ["first", "second"]}]),
        ],
        "cel-filter": [
            resources(entry("one", SIZE), entry("two", SIZE)),
            step("cel-filter", filters=[{"name": "two", "expression": "false"}]),
        ],
        "status-transformer": [ONE, step("status-transformer", statusConditionHooks=[HOOK])],
        "tag-manager": [ONE, step("tag-manager", addLabels=[{"labels": {"team": "blue"}}])],
        "dummy": [step("dummy", response=DUMMY)],
    }


CASES = (*pipelines("-"), "external", "legacy", "native")
PASSWORD = "hunter2-correct-horse"


def publishing(namespace: str) -> Object:
    """A resource of a legacy XR, with a connection detail."""
    details = [{"name": "password", "type": "FromFieldPath", "fromFieldPath": "data.password"}]
    base = {"metadata": {"namespace": namespace}, "data": {"password": PASSWORD}}
    return entry("one", SIZE, base=base, connectionDetails=details)


class RecordedRuns:
    """The runs of one XR for each case, and the functions to replay them with."""

    def __init__(self) -> None:
        self.runs: dict[str, list[Run]] = {}
        self.functions: dict[str, list[Object]] = {}

    def replay(self, case: str, run: Run, composition: Composition | None = None) -> Replayed:
        with calling_functions(self.functions[case], 60, run.world, None) as call:
            return replay(run.world, call, composition)


@pytest.fixture(scope="module")
def recorded(
    control_plane: ClusterConfig, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RecordedRuns]:
    """Runs of all cases, side by side on one control plane."""
    file = tmp_path_factory.mktemp("function") / "main.py"
    file.write_text(textwrap.dedent(SDK))
    address = f"127.0.0.1:{free_port()}"
    command = [CROSSPLY, "function", "run", "--insecure", "--address", address, str(file)]
    with started(command, address):
        yield asyncio.run(record(control_plane, address))


async def record(config: ClusterConfig, address: str) -> RecordedRuns:
    recorded = RecordedRuns()
    async with scenario_on(config) as s:
        things = await Things.defined(s)
        steps = pipelines(s.id)
        for name in steps:
            await s.function(
                f"function-{name}", f"xpkg.crossplane.io/crossplane-contrib/function-{name}:v0.9.0"
            )
        steps["external"] = [await calling(s, address, "external")]
        await prepare_inputs(s)
        legacy = await Things.defined(s, "LegacyCluster", "Old")
        one = publishing(s.id)
        await asyncio.gather(
            *(record_case(s, things, case, recorded, pipeline=pipeline) for case, pipeline in steps.items()),
            record_case(s, legacy, "legacy", recorded, pipeline=[resources(one)]),
            record_case(s, legacy, "native", recorded, mode="Resources", resources=[one]),
            record_operation(s, recorded),
        )
    return recorded


async def record_operation(s: Scenario, recorded: RecordedRuns) -> None:
    """An Operation that applies a ConfigMap."""
    metadata = {"name": "operated", "namespace": s.id}
    resource = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}}
    response = {"desired": {"resources": {"it": {"resource": resource}}}}
    spec = {"mode": "Pipeline", "pipeline": [step("dummy", response=response)]}
    body = {"apiVersion": OPERATION.api_version, "kind": OPERATION.kind, "metadata": {"name": s.id}}
    await s.client.apply(OPERATION, {**body, "spec": spec}, "test")
    await s.until(CONFIG_MAP, "operated", bool)
    recorded.runs["operation"] = await s.eventually(lambda: loaded_runs(s, OPERATION, s.id))
    recorded.functions["operation"] = with_built_in([], {"function-dummy"})


async def prepare_inputs(s: Scenario) -> None:
    """What functions ask for."""
    group = "apiextensions.crossplane.io"
    environments = Kind(group, "v1beta1", "EnvironmentConfig", "environmentconfigs", False)
    body = {"apiVersion": f"{group}/v1beta1", "kind": "EnvironmentConfig", "data": {"region": "eu"}}
    await s.client.apply(environments, {**body, "metadata": {"name": s.id}}, "test")
    metadata = {"name": "texts", "namespace": s.id}
    await s.client.create(CONFIG_MAP, {"metadata": metadata, "data": {"text": "A"}})


async def loaded_runs(s: Scenario, kind: Kind, name: str) -> list[Run]:
    """The recorded runs of an object; kinds of other scenarios may have its name."""
    runs = RunClient(s.client)
    listed = await runs.list_runs(kind.kind, s.id if kind.namespaced else "", name)
    own = [summary for summary in listed if summary.subject.api_version == kind.api_version]
    return [await runs.load_run(summary.id) for summary in own]


async def record_case(
    s: Scenario, things: Things, case: str, recorded: RecordedRuns, **composition: Any
) -> None:
    """Make an XR by a Composition with this spec, and edit it."""
    name = f"{s.id}-{case}"
    composite = {"apiVersion": things.kind.api_version, "kind": things.kind.kind}
    body = {"apiVersion": COMPOSITION.api_version, "kind": COMPOSITION.kind, "metadata": {"name": name}}
    spec = {"compositeTypeRef": composite, "mode": "Pipeline", **composition}
    await s.client.apply(COMPOSITION, {**body, "spec": spec}, "test")
    engine = {"compositionRef": {"name": name}}
    if things.scope == "LegacyCluster":
        engine["writeConnectionSecretToRef"] = {"name": case, "namespace": s.id}
    await things.apply(case, {"size": "3", **things.engine_spec(**engine)})
    await things.until(case, SYNCED)
    await things.change(case, {"spec": {"size": "4"}})

    async def both() -> list[Run] | None:
        loaded = await loaded_runs(s, things.kind, case)
        return loaded if any(run.composite["spec"].get("size") == "4" for run in loaded) else None

    recorded.runs[case] = await s.eventually(both)
    run = recorded.runs[case][0]
    called = called_functions(run.world)
    in_cluster = await functions_of_cluster(s.client, run, called, HostAccess())
    recorded.functions[case] = with_built_in(in_cluster, called)


@pytest.mark.parametrize("case", CASES)
def test_a_replay_has_the_recorded_effects(recorded: RecordedRuns, case: str) -> None:
    assert len(recorded.runs[case]) > 1
    for run in recorded.runs[case]:
        then, now = recorded_effects(run.world), recorded.replay(case, run).effects
        assert compare_effects(then, now) == ()
        assert list(map(encoded, map(list, now))) == list(map(encoded, map(list, then)))
    assert APPLIED in {effect.verb for effect in recorded_effects(recorded.runs[case][0].world)}


def test_a_replay_of_an_operation_desires_the_applied_resources(recorded: RecordedRuns) -> None:
    [run] = recorded.runs["operation"]
    then = recorded_effects(run.world)
    assert [(effect.verb, effect.content["data"]) for effect in then] == [(APPLIED, {"a": "b"})]
    assert recorded.replay("operation", run).effects == then


def test_connection_details_are_published_by_placeholders(recorded: RecordedRuns) -> None:
    for case in ("legacy", "native"):
        effects = [effect for run in recorded.runs[case] for effect in recorded_effects(run.world)]
        assert PUBLISHED in {effect.verb for effect in effects}
        assert PASSWORD not in str([effect for effect in effects if effect.verb == PUBLISHED])


def test_a_legacy_run_is_exported_with_its_definition_and_passes_its_test(
    recorded: RecordedRuns, tmp_path: pathlib.Path
) -> None:
    for case in ("legacy", "native", "extra-resources"):
        directory = tmp_path / case
        directory.mkdir()
        for path, text in export_files(recorded.runs[case][0], recorded.functions[case]).items():
            (directory / path).write_text(text)
        assert (directory / "definition.yaml").exists() == (case != "extra-resources")
        assert main(["test", str(directory)]) == 0, case


def test_after_an_edit_of_the_composition_exactly_that_differs(recorded: RecordedRuns) -> None:
    run = recorded.runs["patch-and-transform"][0]
    composition = composition_of(run.world)
    assert composition is not None
    manifest = composition_manifest(composition)
    manifest["spec"]["pipeline"][0]["input"]["resources"][0]["base"]["data"] = {"color": "blue"}
    replayed = recorded.replay("patch-and-transform", run, parse_composition(manifest))
    differences = compare_effects(recorded_effects(run.world), replayed.effects)
    assert {field.field for difference in differences for field in difference.fields} == {"data.color"}
    assert {difference.verb for difference in differences} == {APPLIED}
