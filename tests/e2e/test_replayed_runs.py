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
from crossply.functions.builtin.catalogue import CATALOGUE
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
from tests.support.e2e.builtin_pipelines import package_of, pipelines, step
from tests.support.e2e.pipelines import SIZE, calling, entry, resources
from tests.support.e2e.scenario import COMPOSITION, CONFIG_MAP, Scenario, scenario_on
from tests.support.e2e.things import SYNCED, Things
from tests.support.e2e.usages import USAGE
from tests.support.function_servers import serving_file

pytestmark = pytest.mark.xdist_group("e2e")

SDK = """
from crossply.sdk import function


@function
def compose(req, rsp):
    size = req.xr["spec"]["size"]
    rsp.desired["external"] = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"size": size * 2}}
    rsp.desired["external"].ready = True
    rsp.xr.status["size"] = size
"""
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
    with serving_file(file) as address:
        yield asyncio.run(record(control_plane, address))


async def record(config: ClusterConfig, address: str) -> RecordedRuns:
    recorded = RecordedRuns()
    async with scenario_on(config) as s:
        things = await Things.defined(s)
        steps = pipelines(s.id)
        for name in steps:
            await s.function(f"function-{name}", package_of(name))
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
        await s.eventually(lambda: no_usages(s))
    return recorded


async def no_usages(s: Scenario) -> bool:
    """Whether everything may be deleted."""
    return not (await s.client.list(USAGE, s.id)).items


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


def test_a_pipeline_of_every_built_in_function_is_replayed() -> None:
    """Tests of function-shell replay its runs; kcl is an optional dependency."""
    others = {function.name for function in CATALOGUE} - set(CASES)
    assert others - {"kcl"} == {"shell"}


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
