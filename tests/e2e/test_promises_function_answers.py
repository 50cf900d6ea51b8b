"""Promises about what functions answer (docs/reliability.md): whatever they desire, the plane holds."""

from __future__ import annotations

import itertools

import pytest

from crossply.compose.function_messages import (
    READY_TRUE,
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    STATUS_TRUE,
    Condition,
    Requirements,
    Resource,
    ResourceSelector,
    Response,
    Result,
    State,
)
from tests.support.e2e.function_checks import spec_of, still_works
from tests.support.e2e.pipelines import calling, served
from tests.support.e2e.scenario import CONFIG_MAP, condition
from tests.support.e2e.things import FAILED, READY, SYNCED, Things, config_map, custom_kind, desiring, failing

pytestmark = pytest.mark.xdist_group("e2e")


async def test_fn_oversize_a_flood_of_results_and_conditions_is_capped(s):
    def function(request):
        results = tuple(Result(SEVERITY_NORMAL, f"message {n}") for n in range(10_000))
        conditions = tuple(Condition(f"Flood{n}", STATUS_TRUE, "Flood") for n in range(10_000))
        response = desiring(request, one=config_map())
        return response._replace(results=results, conditions=conditions)

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", SYNCED, READY)
        assert len(xr["status"]["conditions"]) <= 200
        await still_works(s)
        assert len(await s.events(xr)) <= 200


async def test_fn_nondeterministic_new_names_at_every_call_are_bounded(s):
    """What is no longer desired goes, and the XR is slowed down: it cannot run away."""
    numbers = itertools.count()

    def function(request):
        return desiring(request, **{f"random-{next(numbers)}": config_map()})

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", lambda xr: things.references(xr))
        # It composes another one each time its own change enqueues it, until it is slowed down.
        xr = await things.until("mine", condition("Responsive", "False", "WatchCircuitOpen"))
        count = next(numbers)

        async def few():
            return len(await things.composed(xr)) <= 3

        await s.eventually(few)
        assert next(numbers) - count < 20
        assert count < 1000
        await still_works(s)
        await things.delete("mine")


async def test_fn_requirements_loop_ever_new_requirements_end_after_five_rounds(s):
    calls = []

    def function(request):
        calls.append(1)
        selector = ResourceSelector("v1", "ConfigMap", match_name=f"none-{len(calls)}", namespace="default")
        return desiring(request, one=config_map())._replace(requirements=Requirements({"a": selector}))

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        message = "requirements didn't stabilize after the maximum number of iterations (5)"
        xr = await things.until("mine", failing(message))
        assert await things.composed(xr) == {}
        await still_works(s)


async def test_fn_drop_desired_a_fatal_result_deletes_nothing_and_an_empty_answer_deletes_all(s):
    def function(request):
        mode = spec_of(request).get("mode")
        if mode == "fatal":
            return Response(State(), (Result(SEVERITY_FATAL, "sorry"),))
        return Response(State()) if mode == "empty" else desiring(request, one=config_map())

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", READY)
        await things.apply("mine", {"mode": "fatal"})
        await things.until("mine", failing("sorry"))
        assert set(await things.composed(xr)) == {"one"}
        await things.apply("mine", {"mode": "empty"})
        await things.until("mine", SYNCED, lambda xr: things.references(xr) == [])
        await s.eventually(lambda: _none(things, xr))


async def _none(things, xr):
    return not await things.composed(xr)


def controlled_by_boss(uid):
    """A reference to a controller."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": "boss", "uid": uid, "controller": True}


async def test_fn_steal_a_function_cannot_adopt_an_object_with_another_controller(s):
    """Neither by its name, nor by claiming to be its owner's."""

    def function(request):
        spec = spec_of(request)
        metadata = {"name": "precious"}
        if spec.get("mode") == "as its owner":
            metadata["ownerReferences"] = [
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "name": "boss",
                    "uid": spec["size"],
                    "controller": True,
                }
            ]
        return desiring(request, one=config_map(metadata=metadata, data={"stolen": "yes"}))

    with served(function) as address:
        things = await Things.defined(s)
        boss = await s.client.create(CONFIG_MAP, {"metadata": {"name": "boss", "namespace": s.id}})
        uid = boss["metadata"]["uid"]
        precious = {"name": "precious", "namespace": s.id, "ownerReferences": [controlled_by_boss(uid)]}
        before = await s.client.create(CONFIG_MAP, {"metadata": precious, "data": {"mine": "yes"}})
        await things.compose(await calling(s, address))
        await things.apply("by-name", {"size": uid})
        await things.until("by-name", failing("Unsynced resources: one"))
        await things.apply("as-owner", {"size": uid, "mode": "as its owner"})
        await things.until("as-owner", failing("is already controlled by ConfigMap boss"))
        assert await s.client.get(CONFIG_MAP, "precious", s.id) == before


async def test_fn_metadata_abuse_the_engines_metadata_is_not_a_functions(s):
    def function(request):
        metadata = {
            "namespace": "kube-system",
            "labels": {"crossplane.io/composite": "somebody-else"},
            "annotations": {"crossplane.io/composition-resource-name": "something-else"},
            "deletionTimestamp": "2020-01-01T00:00:00Z",
            "managedFields": [],
            "resourceVersion": "1",
            "uid": "00000000-0000-0000-0000-000000000000",
            "generation": 77,
        }
        composite = {"spec": {"size": "stolen"}, "metadata": {"labels": {"a": "b"}, "finalizers": ["x.y/z"]}}
        return Response(
            State(
                Resource(composite),
                {"one": Resource(config_map(metadata=metadata), ready=READY_TRUE)},
            )
        )

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine", {"size": "mine"})

        async def decided():
            xr = await things.get("mine")
            return xr if SYNCED({"status": {}, **xr}) or FAILED({"status": {}, **xr}) else None

        xr = await s.eventually(decided)
        assert xr["spec"]["size"] == "mine"
        assert xr["metadata"]["labels"] == {"crossplane.io/composite": "mine"}
        assert xr["metadata"]["finalizers"] == ["composite.apiextensions.crossplane.io"]
        for name, obj in (await things.composed(xr)).items():
            assert name == "one"
            assert obj["metadata"]["namespace"] == s.id
            assert obj["metadata"]["labels"]["crossplane.io/composite"] == "mine"
            assert "deletionTimestamp" not in obj["metadata"]


async def test_fn_metadata_abuse_a_namespaced_xr_composes_nothing_that_is_cluster_scoped(s):
    """Not even if the function gives it the XR's namespace."""

    def function(request):
        home = request.observed.composite.object["metadata"]["namespace"]
        mode = spec_of(request)["mode"]
        metadata = {"name": f"{home}-wide", **({"namespace": home} if mode == "disguised" else {})}
        return desiring(
            request, one={"apiVersion": spec_of(request)["size"], "kind": "Wide", "metadata": metadata}
        )

    async def scenario(s, address):
        wide = await custom_kind(s, "Wide", namespaced=False)
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        for mode in ("plain", "disguised"):
            await things.apply(mode, {"mode": mode, "size": wide.api_version})
            await things.until(mode, FAILED)
        assert await s.client.get(wide, f"{s.id}-wide") is None

    with served(function) as address:
        await scenario(s, address)


async def test_fn_oversize_too_many_resources_are_refused_right_after_their_step(s):
    later = []

    def too_many(request):
        return Response(State(resources={f"r{n}": Resource(config_map()) for n in range(10_001)}))

    def after(request):
        later.append(1)
        return Response(request.desired)

    with served(too_many) as first, served(after) as second:
        things = await Things.defined(s)
        await things.compose(await calling(s, first), await calling(s, second, step="after"))
        await things.apply("mine")
        xr = await things.until("mine", failing("functions want 10001 composed resources"))
        assert not await things.composed(xr)
        assert not later
