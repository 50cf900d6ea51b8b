"""One composite resource must not keep others waiting, nor leave anything behind in memory."""

from __future__ import annotations

import gc

import pytest

from crossply.compose.messages import Requirements, ResourceSelector
from crossply.control.composites.circuit import Circuit
from crossply.control.options import Options
from tests.e2e.in_process import play_with
from tests.e2e.pipelines import calling, entry, resources, served
from tests.e2e.scenario import CONFIG_MAP
from tests.e2e.things import READY, SYNCED, Things, config_map, desiring, failing

pytestmark = pytest.mark.xdist_group("e2e-neighbours")

MANY = 400


def counted(request):
    """Compose as many ConfigMaps as the composite resource says."""
    count = request.observed.composite.object["spec"]["count"]  # a float, as in every message
    return desiring(request, **{f"n{number}": config_map() for number in range(int(count))})


async def versions(things, name):
    """When each of its composed resources was created, in the order of the API server."""
    composed = await things.composed(await things.get(name))
    return sorted(int(each["metadata"]["resourceVersion"]) for each in composed.values())


def test_many_writes_for_one_composite_resource_do_not_hold_up_another(own_server):
    async def scenario(s, address):
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("many", {"count": MANY})

        async def begun():
            return await versions(things, "many")

        await s.eventually(begun)
        await things.apply("one", {"count": 1})
        await things.until("one", READY)
        await things.until("many", READY)
        [one] = await versions(things, "one")
        after = [version for version in await versions(things, "many") if version > one]
        assert len(after) > MANY / 4, "it did not wait for all of them"

    with served(counted) as address:
        play_with(own_server, Options(), lambda s: scenario(s, address))


def test_more_resources_than_allowed_are_refused_and_nothing_is_written(own_server):
    async def scenario(s, address):
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine", {"count": 6})
        xr = await things.until("mine", failing("at most 5 (--max-composed-resources)"))
        assert not await things.composed(xr)
        await things.apply("mine", {"count": 5})
        await things.until("mine", READY, SYNCED)

    with served(counted) as address:
        play_with(own_server, Options(most_composed=5), lambda s: scenario(s, address))


def test_nothing_is_remembered_of_a_composite_resource_that_is_gone(own_server):
    async def scenario(s):
        things = await Things.defined(s)
        await things.compose(resources(entry()))
        await things.apply("mine")
        xr = await things.until("mine", READY)
        [name] = [each["name"] for each in things.references(xr)]
        assert is_remembered(s)
        # Held back, so that it goes long after its owner.
        held = {"metadata": {"finalizers": ["example.org/keep"]}}
        await s.client.patch_merge(CONFIG_MAP, name, held, s.id)
        await things.delete("mine")
        await s.client.patch_merge(CONFIG_MAP, name, {"metadata": {"finalizers": None}}, s.id)
        await s.until_gone(CONFIG_MAP, name)
        # What happens to another one later is noticed after all that.
        await things.apply("other")
        await things.until("other", READY)
        assert not is_remembered(s)

    def is_remembered(s):
        circuits = [each for each in gc.get_objects() if isinstance(each, Circuit)]
        return any((s.id, "mine") in each for each in circuits)

    play_with(own_server, Options(), scenario)


def test_a_function_that_requires_something_else_each_time_slows_down(own_server):
    """Each new requirement is a reason to look again; without a limit that goes on as fast as it can."""

    class Restless:
        """Requires the next object as soon as it was given the last."""

        def __init__(self):
            self.required = 1
            self.given = 0

        def __call__(self, request):
            answer = desiring(request, one=config_map())
            if request.observed.composite.object["spec"].get("mode") == "stable":
                return answer
            if f"n{self.required}" in request.required_resources:
                if self.given == self.required:
                    self.required += 1
                else:
                    self.given = self.required
            name = f"n{self.required}"
            selector = ResourceSelector("v1", "ConfigMap", match_name=name, namespace="default")
            return answer._replace(requirements=Requirements({name: selector}))

    async def scenario(s, address):
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        await things.until("mine", READY)
        for number in range(20):
            await things.apply(f"other-{number}", {"mode": "stable"})
            await things.until(f"other-{number}", READY)
        assert 1 < restless.required < 20

    restless = Restless()
    with served(restless) as address:
        play_with(own_server, Options(), lambda s: scenario(s, address))
