"""One composite resource must not keep others waiting, nor leave anything behind in memory."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections import Counter, deque

import pytest

from crossply.compose.function_messages import (
    SEVERITY_FATAL,
    Requirements,
    ResourceSelector,
    Response,
    Result,
)
from crossply.control.composite_dependency_watches import UNSETTLED
from crossply.control.composites.circuit_breaker import CircuitBreaker
from crossply.control.kinds import OPERATION
from crossply.control.options import Options
from crossply.values.bounded_cache import BoundedCache
from tests.support.e2e.in_process import scenario_with
from tests.support.e2e.pipelines import calling, entry, resources, served
from tests.support.e2e.scenario import CONFIG_MAP
from tests.support.e2e.things import READY, SYNCED, Things, config_map, desiring, failing
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.xdist_group("e2e-neighbours")

MANY = 400
CALLS_IN_A_RUN = 5
TOLERATED = 10
"""Fewer than the composite resources that come and go; names of functions and kinds may be learnt."""
ENGINE_MODULES = (
    "crossply.control",
    "crossply.kube",
    "crossply.record",
    "crossply.functions",
    "crossply.compose",
)
BOUNDED_BY_COUNT = ("Recorder._recorded", "RateLimiter._known", "HistogramSeries.buckets")
"""Digests of events and small figures, a few thousand; a series of a metric for each set of labels."""
MOST_DOUBLINGS = 12
"""Pauses of 1, 2, 4 … s: so many do not fit into the time that a test has."""


def counted(request):
    """Compose as many ConfigMaps as the composite resource specifies."""
    count = request.observed.composite.object["spec"]["count"]  # a float, as in every message
    return desiring(request, **{f"n{number}": config_map() for number in range(int(count))})


async def versions(things, name):
    """When each of its composed resources was created, in the order of the API server."""
    composed = await things.composed(await things.get(name))
    return sorted(int(obj["metadata"]["resourceVersion"]) for obj in composed.values())


async def test_many_writes_for_one_composite_resource_do_not_hold_up_another(own_server):
    with served(counted) as address:
        async with scenario_with(own_server, Options()) as s:
            things = await Things.defined(s)
            await things.compose(await calling(s, address))
            await things.apply("many", {"count": MANY})

            async def written_versions():
                return await versions(things, "many")

            await s.eventually(written_versions)
            await things.apply("one", {"count": 1})
            await things.until("one", READY)
            await things.until("many", READY)
            [single_version] = await versions(things, "one")
            after = [version for version in await versions(things, "many") if version > single_version]
            assert len(after) > MANY / 4, "it did not wait for all of them"


async def test_more_resources_than_allowed_are_refused_and_nothing_is_written(own_server):
    with served(counted) as address:
        async with scenario_with(own_server, Options(most_composed=5)) as s:
            things = await Things.defined(s)
            await things.compose(await calling(s, address))
            await things.apply("mine", {"count": 6})
            xr = await things.until("mine", failing("at most 5 (--max-composed-resources)"))
            assert not await things.composed(xr)
            await things.apply("mine", {"count": 5})
            await things.until("mine", READY, SYNCED)


async def test_a_deleted_composite_resource_leaves_nothing_in_memory(own_server):
    async def scenario(s):
        things = await Things.defined(s)
        await things.compose(resources(entry()))
        await things.apply("mine")
        xr = await things.until("mine", READY)
        [name] = [reference["name"] for reference in things.references(xr)]
        assert is_remembered(s)
        # A finalizer delays it, so that it goes long after its owner.
        finalizers_patch = {"metadata": {"finalizers": ["example.org/keep"]}}
        await s.client.patch_merge(CONFIG_MAP, name, finalizers_patch, s.id)
        await things.delete("mine")
        await s.client.patch_merge(CONFIG_MAP, name, {"metadata": {"finalizers": None}}, s.id)
        await s.until_gone(CONFIG_MAP, name)
        # What happens to another one later is noticed after all that.
        await things.apply("other")
        await things.until("other", READY)
        assert not is_remembered(s)

    def is_remembered(s):
        circuits = [obj for obj in gc.get_objects() if isinstance(obj, CircuitBreaker)]
        return any((s.id, "mine") in circuit for circuit in circuits)

    async with scenario_with(own_server, Options()) as s:
        await scenario(s)


async def test_no_collection_of_the_control_plane_grows_with_composite_resources_that_came_and_went(
    own_server,
):
    """All collections are counted, before and after."""

    async def churn(things, count):
        for number in range(count):
            await things.apply(f"mine-{number}", annotations={"crossplane.io/reconcile-requested-at": "now"})
        for number in range(count):
            await things.until(f"mine-{number}", READY)
        for number in range(count):
            await things.delete(f"mine-{number}")

    async def scenario(s, address):
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await churn(things, 3)
        before = collection_sizes()
        await churn(things, 30)
        await assert_as_before(s, before)

    with served(required_and_composed) as address:
        async with scenario_with(own_server, Options()) as s:
            await scenario(s, address)


async def test_composite_resources_deleted_during_composition_leave_nothing_in_memory(own_server):
    names = [f"mine-{number}" for number in range(2 * TOLERATED)]
    called, released = set(), threading.Event()

    def slow(request):
        name = request.observed.composite.object["metadata"]["name"]
        if name in names:
            called.add(name)
            released.wait(PATIENCE)
        return required_and_composed(request)

    async def scenario(s, address):
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("other")
        await things.until("other", READY)
        before = collection_sizes()
        for name in names:
            await things.apply(name)

        async def all_called():
            return len(called) == len(names)

        await s.eventually(all_called)
        for name in names:
            await things.delete(name)
        released.set()
        await assert_as_before(s, before)

    with served(slow) as address:
        async with scenario_with(own_server, Options()) as s:
            await scenario(s, address)


async def test_operations_deleted_while_they_wait_leave_nothing_in_memory(own_server):
    def failed(operation):
        return (operation.get("status") or {}).get("failures")

    async def churn(s, step, names):
        for name in names:
            spec = {"mode": "Pipeline", "retryLimit": 50, "pipeline": [step]}
            body = {"apiVersion": OPERATION.api_version, "kind": OPERATION.kind, "metadata": {"name": name}}
            await s.client.create(OPERATION, {**body, "spec": spec})
        for name in names:
            await s.until(OPERATION, name, failed)
        for name in names:
            await s.client.delete(OPERATION, name)
            await s.until_gone(OPERATION, name)

    async def scenario(s, address):
        step = await calling(s, address)
        await churn(s, step, ["first"])
        before = collection_sizes()
        await churn(s, step, [f"op-{number}" for number in range(2 * TOLERATED)])
        await assert_as_before(s, before)

    with served(lambda request: Response(results=(Result(SEVERITY_FATAL, "not now"),))) as address:
        async with scenario_with(own_server, Options(operations=True)) as s:
            await scenario(s, address)


async def assert_as_before(s, before):
    """Wait until no collection is larger than before: composed resources go shortly after their owner."""

    async def grown():
        after = collection_sizes()
        return {
            path: size
            for path, size in after.items()
            if size > before.get(path, 0) + TOLERATED and path not in BOUNDED_BY_COUNT
        }

    async def is_as_before():
        return not await grown()

    with contextlib.suppress(AssertionError):
        await s.eventually(is_as_before)
    assert await grown() == {}


def required_and_composed(request):
    """Compose a ConfigMap, and require one that is named after the composite resource."""
    name = request.observed.composite.object["metadata"]["name"]
    selector = ResourceSelector("v1", "ConfigMap", match_name=f"for-{name}", namespace="default")
    return desiring(request, one=config_map())._replace(requirements=Requirements({"one": selector}))


def collection_sizes():
    """How much all objects of the control plane hold in collections together, by class and field."""
    sizes = Counter()
    gc.collect()  # cyclic garbage is collected
    for owner in gc.get_objects():
        if str(type(owner).__module__).startswith(ENGINE_MODULES) and not isinstance(owner, BoundedCache):
            for name, field in fields_of(owner).items():
                sizes[f"{type(owner).__name__}.{name}"] += size_of(field)
    return sizes


def fields_of(owner):
    slots = [name for kind in type(owner).__mro__ for name in getattr(kind, "__slots__", ())]
    return {**getattr(owner, "__dict__", {}), **{name: getattr(owner, name, None) for name in slots}}


def size_of(field):
    """The number of its members, and of their members."""
    if not isinstance(field, dict | set | frozenset | list | deque):
        return 0
    members = list(field.values() if isinstance(field, dict) else field)
    return len(members) + sum(
        len(member) for member in members if isinstance(member, dict | set | list | deque)
    )


async def test_a_function_whose_requirements_never_settle_is_called_ever_more_rarely(own_server):
    """Within one run they are fetched a few times; then the composite resource reports it, and waits."""

    class Unsettled:
        def __init__(self):
            self.calls = 0

        def __call__(self, request):
            answer = desiring(request, one=config_map())
            if request.observed.composite.object["spec"].get("mode") == "stable":
                return answer
            self.calls += 1
            name = f"n{self.calls}"
            selector = ResourceSelector("v1", "ConfigMap", match_name=name, namespace="default")
            return answer._replace(requirements=Requirements({name: selector}))

    unsettled = Unsettled()
    with served(unsettled) as address:
        async with scenario_with(own_server, Options()) as s:
            things = await Things.defined(s)
            await things.compose(await calling(s, address))
            await things.apply("mine")
            await things.until("mine", failing("requirements didn't stabilize"))
            for number in range(20):
                await things.apply(f"other-{number}", {"mode": "stable"})
                await things.until(f"other-{number}", READY)
            runs = unsettled.calls / CALLS_IN_A_RUN
            assert 1 <= runs < UNSETTLED + MOST_DOUBLINGS


async def test_a_function_whose_requirements_change_every_time_slows_down(own_server):
    """Each new requirement is a reason to look again; without a limit that goes on as fast as it can."""

    class Restless:
        """Requires the next object as soon as it was given the last."""

        def __init__(self):
            self.required = 1
            self.received = 0

        def __call__(self, request):
            answer = desiring(request, one=config_map())
            if request.observed.composite.object["spec"].get("mode") == "stable":
                return answer
            if f"n{self.required}" in request.required_resources:
                if self.received == self.required:
                    self.required += 1
                else:
                    self.received = self.required
            name = f"n{self.required}"
            selector = ResourceSelector("v1", "ConfigMap", match_name=name, namespace="default")
            return answer._replace(requirements=Requirements({name: selector}))

    restless = Restless()
    with served(restless) as address:
        async with scenario_with(own_server, Options()) as s:
            things = await Things.defined(s)
            await things.compose(await calling(s, address))
            await things.apply("mine")
            await things.until("mine", READY)
            for number in range(20):
                await things.apply(f"other-{number}", {"mode": "stable"})
                await things.until(f"other-{number}", READY)
            assert 1 < restless.required < 20
