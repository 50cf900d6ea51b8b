"""`crossply plan` with functions that the control plane runs from their images: it runs the same images."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.e2e.container_functions import InContainers, marking_image
from tests.support.e2e.packages import FUNCTION
from tests.support.e2e.pipelines import entry, resources
from tests.support.e2e.plans import Plans
from tests.support.e2e.scenario import COMPOSITION
from tests.support.e2e.things import Things
from tests.support.programs import ENGINE, needs
from tests.support.registry import docker_registry
from tests.support.script_images import script_image

pytestmark = [
    needs(ENGINE, "busybox", "docker-registry"),
    pytest.mark.xdist_group("packages"),
    pytest.mark.embedded_only("the controllers of a real cluster run functions as Deployments"),
]


BY = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"by": "nobody"}}


@pytest.fixture
def plans(s, tmp_path, monkeypatch) -> Plans:
    """What is pulled for plans goes with the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Plans(s, tmp_path)


@pytest.fixture
def registry(tmp_path_factory) -> Iterator[str]:
    """A registry with images that no other test pulls."""
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


def composed(planned):
    """The data of the only ConfigMap of a plan."""
    [node] = [candidate for candidate in planned.nodes() if candidate["kind"] == "ConfigMap"]
    return {field["path"]: field.get("after") for field in node["fields"]}["data.by"]


async def test_a_plan_calls_the_image_that_is_installed_whatever_its_tag_stands_for_now(s, plans, registry):
    packages, things = InContainers(s, registry), await Things.defined(s)
    await packages.push_image(marking_image("installed"), "v1")
    await packages.running("v1")
    await things.compose(resources(entry("made", base=BY)), packages.step())
    await packages.push_image(marking_image("another"), "v1")
    assert composed(await plans.of(things.body())) == "installed"
    await packages.push_image(marking_image("upgraded"), "v2")
    upgrade = {
        "apiVersion": FUNCTION.api_version,
        "kind": FUNCTION.kind,
        "metadata": {"name": packages.function},
        "spec": {"package": f"{packages.source(packages.name)}:v2"},
    }
    assert composed(await plans.of(upgrade, things.body())) == "upgraded"


async def test_a_plan_runs_the_container_functions_of_a_composition(s, plans, registry):
    things, packages = await Things.defined(s), InContainers(s, registry, "painter")
    await packages.push_image(script_image("exec busybox sed 's/by: nobody/by: painter/'"), "v1")
    painter = {"image": f"{packages.source('painter')}:v1"}
    body = {
        "apiVersion": COMPOSITION.api_version,
        "kind": COMPOSITION.kind,
        "metadata": {"name": s.id},
        "spec": {
            "compositeTypeRef": {"apiVersion": things.kind.api_version, "kind": things.kind.kind},
            "mode": "Resources",
            "resources": [{"name": "made", "base": BY, "readinessChecks": [{"type": "None"}]}],
            "functions": [{"name": "painter", "type": "Container", "container": painter}],
        },
    }
    await s.client.apply(COMPOSITION, body, "test")
    assert composed(await plans.of(things.body())) == "painter"
