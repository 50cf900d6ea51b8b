"""Functions in containers of this machine: installed, called, upgraded, killed, and rolled back."""

from __future__ import annotations

import pytest

from crossply.kube.kind import Kind
from tests.support import registry as peers
from tests.support.container_images import go_image
from tests.support.e2e.container_functions import InContainers, marking_image
from tests.support.e2e.packages import FUNCTION
from tests.support.e2e.pipelines import entry, patch, resources
from tests.support.e2e.scenario import COMPOSITION, condition
from tests.support.e2e.things import READY, SYNCED, Things, failing, message_of, until_event_recorded
from tests.support.programs import ENGINE, needs
from tests.support.script_images import script_image

pytestmark = [
    needs(ENGINE, "busybox", "docker-registry"),
    pytest.mark.xdist_group("packages"),
    pytest.mark.embedded_only("the controllers of a real cluster run functions as Deployments"),
]

RUNTIME_CONFIG = Kind("crossply.dev", "v1alpha1", "RuntimeConfig", "runtimeconfigs", False)
BY = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"by": "nobody"}}


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    with peers.docker_registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


def composing():
    """A step that composes one ConfigMap with a value of the XR."""
    return resources(entry("made", patch("spec.mode", "data.mode"), base=BY))


async def until_author_is(things, author, name="mine"):
    async def so():
        composed = await things.composed(await things.until(name, SYNCED, READY))
        return [config_map["data"]["by"] for config_map in composed.values()] == [author]

    await things.s.eventually(so)


async def test_a_foreign_image_is_installed_and_called(s, registry):
    packages, things = InContainers(s, registry), await Things.defined(s)
    await packages.push_image(go_image(), "v1")
    revision = await packages.running("v1")
    name = revision["metadata"]["name"]
    assert revision["status"]["endpoint"] == f"container:///{name}"
    assert any(
        status_condition["type"] == "LimitsHeld" for status_condition in revision["status"]["conditions"]
    )
    await things.compose(composing(), packages.step())
    await things.apply()
    await things.until("mine", SYNCED, READY)


async def test_a_function_that_wants_too_much_memory_is_killed_and_the_next_call_works(s, registry):
    packages, things = InContainers(s, registry), await Things.defined(s)
    await packages.push_image(go_image(), "v1")
    runtime_config_ref = {"apiVersion": RUNTIME_CONFIG.api_version, "kind": RUNTIME_CONFIG.kind, "name": s.id}
    await packages.install(FUNCTION, f"{packages.name}:v1", runtimeConfigRef=runtime_config_ref)
    missing = f'RuntimeConfig.crossply.dev "{s.id}" not found'
    await packages.revision(FUNCTION, packages.function, is_false_with("RuntimeHealthy", missing))
    await s.client.apply(RUNTIME_CONFIG, limited(s.id), "test")
    await packages.running("v1", runtimeConfigRef=runtime_config_ref)
    await things.compose(composing(), packages.step())
    await things.apply("greedy", {"mode": "please-hog"})
    message = message_of(await things.until("greedy", failing("it exceeded its 64 MiB")))
    assert f'pipeline step "ours": cannot run Function "{packages.function}"' in message
    await things.delete("greedy")
    await things.apply("modest")
    await things.until("modest", SYNCED, READY)


def limited(name):
    """A RuntimeConfig with little memory."""
    return {
        "apiVersion": RUNTIME_CONFIG.api_version,
        "kind": RUNTIME_CONFIG.kind,
        "metadata": {"name": name},
        "spec": {"limits": {"memory": "64Mi", "pids": 64}, "idleSeconds": 60, "warm": True},
    }


def is_false_with(type_, text):
    """A check for a condition that is False with this message."""
    return lambda obj: condition(type_, "False")(obj) and text in message_of(obj, type_)


async def test_a_function_that_runs_to_completion_is_upgraded_and_rolled_back(s, registry):
    packages, things = InContainers(s, registry), await Things.defined(s)
    for version in ("v1", "v2"):
        await packages.push_image(marking_image(version), version)
    await packages.running("v1")
    await things.compose(composing(), packages.step())
    await things.apply()
    await until_author_is(things, "v1")
    await packages.running("v2")
    await until_author_is(things, "v2")
    await packages.running("v1")
    await until_author_is(things, "v1")


async def test_two_active_revisions_are_called_in_containers_of_their_own(s, registry):
    packages, things = InContainers(s, registry), await Things.defined(s)
    two = {"revisionHistoryLimit": 4, "activeRevisionLimit": 2}
    revisions = []
    for version in ("v1", "v2"):
        await packages.push_image(marking_image(version), version)
        revisions.append((await packages.running(version, **two))["metadata"]["name"])
    for version, revision in zip(("v1", "v2"), revisions, strict=True):
        step = packages.step(functionRevisionRef={"name": revision})
        await things.compose(composing(), step, name=f"{s.id}-{version}")
        await things.apply(version, things.engine_spec(compositionRef={"name": f"{s.id}-{version}"}))
    for version in ("v1", "v2"):
        await until_author_is(things, version, version)


async def test_container_functions_of_a_composition_run_after_its_resources(s, registry):
    things = await Things.defined(s)
    painter = script_image("exec busybox sed 's/by: nobody/by: painter/; s/mode: seen/mode: lied/'")
    peers_reference = f"{registry}/{s.id}/painter:v1"
    await InContainers(s, registry, "painter").push_image(painter, "v1")
    body = {
        "apiVersion": COMPOSITION.api_version,
        "kind": COMPOSITION.kind,
        "metadata": {"name": s.id},
        "spec": {
            "compositeTypeRef": {"apiVersion": things.kind.api_version, "kind": things.kind.kind},
            "resources": [{"name": "made", "base": BY, "readinessChecks": [{"type": "None"}]}],
            "functions": [{"name": "painter", "type": "Container", "container": {"image": peers_reference}}],
        },
    }
    await s.client.apply(COMPOSITION, body, "test")
    xr = await things.apply("mine", {"mode": "seen"})
    await until_author_is(things, "painter")
    message = (
        'Pipeline step "painter": function "painter" changed the observed state, which is ignored: '
        "composite.resource.spec.mode"
    )
    await until_event_recorded(s, xr, "Warning", "ObservedStateChanged", message)
