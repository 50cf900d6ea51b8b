"""The claim controller and a plan come to the same, and functions get the same, in worlds with a claim.

Worlds are generated: a claim that is new, bound, or refused, what there is of its composite resource, and
functions. The controllers bring each to rest, and so do the rounds of a plan.
`render` and `test` take no claim: `crossply xr generate` makes the composite resource that they take.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.compose.in_memory_reconcile import NOW, Rendering
from crossply.control.claims.sync import FINALIZER
from crossply.control.composites.composite_writes import FINALIZER as COMPOSITE_FINALIZER
from crossply.control.planning.governed_kinds import Governed
from crossply.control.planning.node_notes import blocking_reason
from crossply.convert.claim_to_composite import CompositeOptions, claim_to_composite
from crossply.errors import CrossplyError
from crossply.kinds.definition import parse_definition
from crossply.rendering.inputs import RenderRefused, check_fit, composition_in
from crossply.values.yaml import Document
from tests.support.control.claim_scenarios import (
    BOUND,
    CONTROLLED,
    FREE,
    NEW,
    TAKEN,
    AtRest,
    BusyApi,
    ClaimWorld,
    by_controllers,
    by_rounds,
    claim_of,
    claim_worlds,
    deleted_claim_worlds,
    objects_in,
)
from tests.support.control.reconcile_scenarios import CLAIM as CLAIM_KIND
from tests.support.control.reconcile_scenarios import (
    FOREIGN_FINALIZER,
    Calls,
    Scenario,
    StepScript,
    composition,
    prepared_composition,
    required,
    xrd,
)
from tests.support.control.sent_requests import as_data, without_versions
from tests.support.in_memory_api import InMemoryApi

CLAIM, COMPOSITE = "Bucket/mine", "XBucket/xr"


@settings(max_examples=150)
@given(claim_worlds)
def test_a_plan_comes_to_what_the_controllers_come_to(world: ClaimWorld) -> None:
    controlled, planned = asyncio.run(by_controllers(world)), asyncio.run(by_rounds(world))
    assert named_alike(controlled.objects) == named_alike(planned.objects)
    assert named_alike(controlled.messages) == named_alike(planned.messages)
    assert named_alike(controlled.problems) == named_alike(planned.problems)
    assert distinct(controlled) == distinct(planned)
    if world.is_paused:
        return
    if world.binding in (TAKEN, CONTROLLED):
        assert any("refusing to operate" in message for message in controlled.messages["Bucket"])
        return
    for request in as_data(controlled.requests):
        xr = request["observed"]["composite"]["resource"]
        assert (
            xr["spec"]["claimRef"]["name"] == xr["metadata"]["labels"]["crossplane.io/claim-name"] == "mine"
        )
        assert xr["spec"]["size"] == world.size


@settings(max_examples=100)
@given(claim_worlds, st.sampled_from([("XBucket",), ("Bucket",), ("XBucket", "Bucket")]))
def test_a_write_of_a_status_that_loses_to_another_changes_nothing_in_the_end(
    world: ClaimWorld, kinds: tuple[str, ...]
) -> None:
    busy = asyncio.run(by_controllers(world, BusyApi(objects_in(world), kinds)))
    quiet = asyncio.run(by_controllers(world))
    assert named_alike(busy.objects) == named_alike(quiet.objects)
    assert named_alike(busy.problems) == named_alike(quiet.problems)


@settings(max_examples=150)
@given(deleted_claim_worlds)
def test_a_claim_that_is_being_deleted_takes_what_is_its_own_with_it(world: ClaimWorld) -> None:
    api = InMemoryApi(objects_in(world))
    controlled = asyncio.run(by_controllers(world, api))
    assert world.finalizers is not None
    others = [FOREIGN_FINALIZER] if FOREIGN_FINALIZER in world.finalizers else []
    is_ours = FINALIZER in world.finalizers and not world.is_paused
    deletes = is_ours and world.binding in (BOUND, FREE)
    waits = deletes and world.is_held and world.delete_policy == "Foreground"
    if is_ours and not waits and not others:
        assert CLAIM not in controlled.objects
    else:
        left = sorted(world.finalizers) if not is_ours or waits else others
        assert controlled.objects[CLAIM]["metadata"]["finalizers"] == left
    if waits:
        assert reasons(controlled.objects[CLAIM])["Ready"] == "Deleting"
    if deletes:
        # No function is called for what is being deleted.
        assert controlled.requests == []
        assert api.deleted.count(COMPOSITE) >= 1
        assert (COMPOSITE in controlled.objects) == world.is_held
    else:
        assert api.deleted.count(COMPOSITE) == 0
        assert (COMPOSITE in controlled.objects) == (world.binding in (BOUND, FREE, TAKEN, CONTROLLED))
    # A plan does not go on with what is being deleted already: the claim stays as it is, and so does what it
    # is bound to, as with a claim that is paused.
    governed = Governed(CLAIM_KIND, parse_definition(xrd(world.scenario)), is_claim=True)
    assert blocking_reason(governed, claim_of(world)) == "is being deleted"
    planned = asyncio.run(by_rounds(world))
    assert planned.objects.pop(CLAIM) == lasting(claim_of(world))
    paused = asyncio.run(by_rounds(replace(world, finalizers=None, is_paused=True)))
    del paused.objects[CLAIM]
    assert planned.objects == paused.objects
    assert distinct(planned) == distinct(paused)


@settings(max_examples=100)
@given(
    claim_worlds,
    st.frozensets(st.sampled_from([COMPOSITE_FINALIZER, FOREIGN_FINALIZER]), min_size=1),
)
def test_a_claim_waits_for_a_composite_resource_that_is_being_deleted_and_makes_another(
    world: ClaimWorld, finalizers: frozenset[str]
) -> None:
    world = replace(
        world,
        scenario=replace(world.scenario, finalizers=finalizers, has_status=True),
        binding=BOUND,
        is_paused=False,
        is_held=False,
    )
    controlled = asyncio.run(by_controllers(world))
    xr = controlled.objects[COMPOSITE]
    if FOREIGN_FINALIZER in finalizers:
        assert xr["metadata"]["finalizers"] == [FOREIGN_FINALIZER]
        assert reasons(controlled.objects[CLAIM])["Ready"] == "Waiting"
        assert controlled.requests == []
    else:
        assert "deletionTimestamp" not in xr["metadata"]
        composed_for = {
            request["observed"]["composite"]["resource"]["metadata"]["uid"]
            for request in as_data(controlled.requests)
        }
        assert composed_for == {xr["metadata"]["uid"]} != {"uid-1"}
    # A plan brings the claim in line with what there is. It lets nothing go, so nothing is made anew.
    planned = asyncio.run(by_rounds(world))
    assert planned.requests == []
    assert planned.objects[COMPOSITE]["metadata"]["finalizers"] == sorted(finalizers)
    assert reasons(planned.objects[CLAIM])["Ready"] == "Waiting"


@settings(max_examples=60)
@given(claim_worlds)
def test_functions_get_the_claim_alike_from_render_and_from_the_controllers(world: ClaimWorld) -> None:
    world = replace(world, binding=NEW, is_paused=False)
    scenario, user_claim = world.scenario, claim_of(world)
    document = Document(composition(scenario), "composition.yaml", 1)
    with pytest.raises(RenderRefused, match=r"does not match XR's kind \(Bucket\)"):
        check_fit(user_claim, composition_in(document, "", ""))
    xr = claim_to_composite(user_claim, CompositeOptions(kind="XBucket"), lambda: "bbbbb")
    calls = Calls(scenario)
    rendering = Rendering(scenario.machinery, InMemoryCluster(required(scenario)), calls)
    try:
        rendering.run(xr, prepared_composition(scenario), [], {})
    except CrossplyError:
        assert any(step.result == "fatal" for step in scenario.steps)
    controlled = asyncio.run(by_controllers(world))
    rendered, sent = as_data(calls.sent[:1]), as_data(controlled.requests[:1])
    assert [of_claim(request) for request in rendered] == [of_claim(request) for request in sent]


@pytest.mark.parametrize("kind", ["XBucket", "Bucket"])
def test_the_time_of_a_publication_is_reported_after_a_write_of_the_status_that_lost(kind: str) -> None:
    world = published_world()
    api = BusyApi(objects_in(world), [kind])
    objects = asyncio.run(by_controllers(world, api)).objects
    assert (
        objects["Secret/mine-details"]["data"] == objects["Secret/xr-details"]["data"] == {"user": "cm9vdA=="}
    )
    for reported in (objects[CLAIM], objects[COMPOSITE]):
        assert reported["status"]["connectionDetails"] == {"lastPublishedTime": NOW}


def distinct(world: AtRest) -> list[Any]:
    """The requests that differ, in order: how often one is repeated depends on what wakes whom."""
    return [orjson.loads(text) for text in dict.fromkeys(map(text_of, without_versions(world.requests)))]


def named_alike(value: Any) -> Any:
    """A value in which what was made for the claim has no random name."""
    return orjson.loads(text_of(value))


def text_of(value: Any) -> bytes:
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=sorted).decode()
    return re.sub(r"mine-[b-z2-9]{5}\b", "mine-xr", text).encode()


def lasting(obj: Any) -> Any:
    return {**obj, "metadata": {k: v for k, v in obj["metadata"].items() if k != "resourceVersion"}}


def reasons(obj: Any) -> dict[str, str]:
    return {entry["type"]: entry["reason"] for entry in obj["status"]["conditions"]}


def of_claim(request: Any) -> Any:
    """What a composite resource has of its claim: not what the engine goes by, nor labels of Kubernetes.

    The latter the controller leaves out; `xr generate` keeps them, as Crossplane's does.
    """
    xr = request["observed"]["composite"]["resource"]
    labels = {key: value for key, value in xr["metadata"]["labels"].items() if "kubernetes.io" not in key}
    spec = {key: xr["spec"][key] for key in ("size", "claimRef")}
    return [labels.pop("crossplane.io/composite")[:5], labels, xr["metadata"].get("annotations"), spec]


def published_world() -> ClaimWorld:
    """A claim that is bound and gets connection details, of a composite resource that is ready."""
    step = StepScript(frozenset(), frozenset(), frozenset(), False, "", "", None, details="root")
    scenario = Scenario(True, 1, 1, False, frozenset(), frozenset(), (step,), has_claim=True)
    return ClaimWorld(scenario, BOUND, 1, False, "", "", True, None, "", False, False)
