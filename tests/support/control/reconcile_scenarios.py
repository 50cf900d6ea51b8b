"""Scenarios of a reconcile, generated and played by the controller on an API server in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import orjson
from hypothesis import strategies as st

from crossply.compose.engine_field_paths import LEGACY, MODERN, Machinery
from crossply.compose.function_messages import (
    READY_FALSE,
    READY_TRUE,
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    STATUS_TRUE,
    TARGET_COMPOSITE_AND_CLAIM,
    Condition,
    Request,
    Requirements,
    Resource,
    ResourceSelector,
    Response,
    Result,
    State,
    respond,
)
from crossply.compose.in_memory_reconcile import NOW, RESOURCE_VERSION
from crossply.compose.object_metadata import owner_from
from crossply.compose.prepared_composition import prepare
from crossply.compose.resource_names import child_name
from crossply.compose.wire_codec import encode_request
from crossply.control.claims.sync import FINALIZER as CLAIM_FINALIZER
from crossply.control.claims.sync import reference_to_claim
from crossply.control.composites.composite_writes import FINALIZER
from crossply.kinds.composition import Step, parse_composition
from crossply.kube.kind import Kind
from crossply.values import Object

CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", True)
GADGET = Kind("example.org", "v1", "Gadget", "gadgets", True)
CLAIM = Kind("example.org", "v1", "Bucket", "buckets", True)
NAMES = ("a", "b", "c")
FOREIGN_FINALIZER = "example.org/theirs"


@dataclass(frozen=True)
class StepScript:
    """What the function of one step does."""

    desired: frozenset[str]
    ready: frozenset[str]
    drops: frozenset[str]
    condition: bool
    result: str
    requires: str
    status: int | None
    addresses_claim: bool = False
    """Whether its condition and its result are for the claim, too."""
    details: str = ""
    """What it says to be connection details of the composite resource."""


@dataclass(frozen=True)
class Scenario:
    """A composite resource, what exists of it, and its functions."""

    is_legacy: bool
    size: int
    generation: int
    has_status: bool
    existing: frozenset[str]
    required: frozenset[str]
    steps: tuple[StepScript, ...]
    replaced: frozenset[str] = frozenset()
    """What exists as an object of another kind than functions desire."""
    free: frozenset[str] = frozenset()
    """What exists without a controller."""
    leaving: frozenset[str] = frozenset()
    """What exists and is being deleted."""
    missing: frozenset[str] = frozenset()
    """What is referred to, and gone."""
    foreign: frozenset[str] = frozenset()
    """What is referred to, and has another controller; functions may desire something of the same name."""
    has_claim: bool = False
    finalizers: frozenset[str] | None = None
    """What keeps the composite resource, which is being deleted; None where it is not."""
    is_paused: bool = False

    @property
    def machinery(self) -> Machinery:
        return LEGACY if self.is_legacy else MODERN


names = st.frozensets(st.sampled_from(NAMES))


def _steps(details: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[StepScript, ...]]:
    script = st.builds(
        StepScript,
        names,
        names,
        names,
        st.booleans(),
        st.sampled_from(["", "", "", "normal", "fatal"]),
        st.sampled_from(["", "", "labels", "name"]),
        st.none() | st.integers(0, 3),
        st.booleans(),
        details,
    )
    return st.lists(script, min_size=1, max_size=2).map(tuple)


_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "is_legacy": st.booleans(),
    "size": st.integers(0, 9),
    "generation": st.integers(1, 3),
    "has_status": st.booleans(),
    "existing": names,
    "required": st.frozensets(st.sampled_from(["r1", "r2"])),
    "steps": _steps(st.sampled_from(["", "root"])),
}
_STATES: dict[str, st.SearchStrategy[Any]] = {"replaced": names, "free": names, "leaving": names}
scenarios = st.builds(Scenario, **_FIELDS | {"steps": _steps(st.just(""))})
"""What exists was composed before, as it is desired now or would be. Nothing is a secret, which a recorded
run would not have."""
collecting_scenarios = st.builds(
    Scenario,
    **_FIELDS | {"existing": names.filter(bool)},
    **_STATES,
    missing=st.frozensets(st.sampled_from(["d", "e"])) | names,
    foreign=st.just(frozenset[str]()) | names,
    has_claim=st.booleans(),
).map(lambda scenario: replace(scenario, missing=scenario.missing - scenario.existing))
"""Something that exists is to go, is going, is gone, or is not ours."""
claimed_scenarios = st.builds(Scenario, **_FIELDS | {"is_legacy": st.just(True)}, has_claim=st.just(True))
deleted_scenarios = st.builds(
    Scenario,
    **_FIELDS,
    **_STATES,
    missing=st.frozensets(st.sampled_from(["d", "e"])),
    has_claim=st.booleans(),
    finalizers=st.frozensets(st.sampled_from([FINALIZER, FOREIGN_FINALIZER]), min_size=1),
    is_paused=st.sampled_from([False, False, True]),
)


def composite_kind(scenario: Scenario) -> Kind:
    return Kind("example.org", "v1", "XBucket", "xbuckets", not scenario.is_legacy)


def objects_of(scenario: Scenario) -> list[Object]:
    """All that an API server has before the reconcile."""
    revision = {**composition(scenario), "kind": "CompositionRevision", **REVISED}
    revision["spec"] = {**revision["spec"], "revision": 1}
    return [
        composite(scenario),
        *existing(scenario),
        *foreign(scenario),
        *required(scenario),
        *([claim(scenario)] if has_claim(scenario) else []),
        composition(scenario),
        revision,
    ]


REVISED: Object = {
    "metadata": {
        "name": "comp-1",
        "uid": "revision",
        "resourceVersion": "3",
        "labels": {"crossplane.io/composition-name": "comp"},
    },
    "status": {"conditions": [{"type": "ValidPipeline", "status": "True", "reason": "ValidPipeline"}]},
}


class Calls:
    """Calls the functions of a scenario, and keeps what they were sent."""

    def __init__(self, scenario: Scenario) -> None:
        self.sent: list[bytes] = []
        self._scripts = {f"step-{index}": script for index, script in enumerate(scenario.steps)}

    def __call__(self, step: Step, request: Request) -> Response:
        self.sent.append(encode_request(request))
        script = self._scripts[step.name]
        target = TARGET_COMPOSITE_AND_CLAIM if script.addresses_claim else None
        if script.result == "fatal":
            return respond(request, results=(Result(SEVERITY_FATAL, "broken", target=target),))
        resources = {n: r for n, r in request.desired.resources.items() if n not in script.drops}
        count = sum(len(group) for group in request.required_resources.values())
        for name in sorted(script.desired):
            data = {"seen": str(len(request.observed.resources)), "required": str(count)}
            obj = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"namespace": "default"},
                "data": data,
            }
            ready = READY_TRUE if name in script.ready else READY_FALSE
            resources[name] = Resource(obj, ready=ready)
        composite = request.desired.composite
        if script.status is not None or script.details:
            status = {} if script.status is None else {"status": {"count": script.status}}
            composite = Resource(status, {"user": script.details.encode()} if script.details else {})
        return respond(
            request,
            desired=State(composite, resources),
            conditions=(Condition("Checked", STATUS_TRUE, "Fine", None, target),) if script.condition else (),
            results=(Result(SEVERITY_NORMAL, "hello", target=target),) if script.result else (),
            requirements=Requirements(resources=_selectors(script.requires)),
        )


def _selectors(requires: str) -> dict[str, ResourceSelector]:
    if requires == "labels":
        return {"all": ResourceSelector("v1", "ConfigMap", None, {"role": "required"}, "default")}
    if requires == "name":
        return {"one": ResourceSelector("v1", "ConfigMap", "r1", None, "default")}
    return {}


def prepared_composition(scenario: Scenario) -> Any:
    return prepare(parse_composition(composition(scenario)))


def composition(scenario: Scenario) -> Object:
    pipeline = [
        {"step": f"step-{index}", "functionRef": {"name": "f"}} for index in range(len(scenario.steps))
    ]
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "comp", "uid": "composition", "resourceVersion": "2"},
        "spec": {
            "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XBucket"},
            "mode": "Pipeline",
            "pipeline": pipeline,
        },
    }


def xrd(scenario: Scenario) -> Object:
    return {
        "apiVersion": f"apiextensions.crossplane.io/v{1 if scenario.is_legacy else 2}",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "xbuckets.example.org", "uid": "xrd"},
        "spec": {
            "group": "example.org",
            "names": {"kind": "XBucket", "plural": "xbuckets"},
            **({"claimNames": {"kind": "Bucket", "plural": "buckets"}} if scenario.is_legacy else {}),
            "scope": "LegacyCluster" if scenario.is_legacy else "Namespaced",
            "versions": [{"name": "v1", "served": True, "referenceable": True}],
        },
    }


def bare(scenario: Scenario) -> Object:
    """The composite resource as the API server has it once it was reconciled."""
    metadata: Object = {
        "name": "xr",
        "uid": "uid-1",
        "resourceVersion": RESOURCE_VERSION,
        "generation": scenario.generation,
        "finalizers": [FINALIZER] if scenario.finalizers is None else sorted(scenario.finalizers),
        "labels": {"crossplane.io/composite": "xr"},
    }
    if scenario.finalizers is not None:
        metadata["deletionTimestamp"] = NOW
    if scenario.is_paused:
        metadata["annotations"] = {"crossplane.io/paused": "true"}
    if not scenario.is_legacy:
        metadata["namespace"] = "default"
    fields: Object = {"compositionRef": {"name": "comp"}, "compositionRevisionRef": {"name": "comp-1"}}
    if has_claim(scenario):
        metadata["labels"] |= {"crossplane.io/claim-name": "mine", "crossplane.io/claim-namespace": "default"}
        fields["claimRef"] = reference_to_claim(claim(scenario))
    spec = {"size": scenario.size, **(fields if scenario.is_legacy else {"crossplane": fields})}
    xr = {"apiVersion": "example.org/v1", "kind": "XBucket", "metadata": metadata, "spec": spec}
    if scenario.has_status:
        condition = {"type": "Old", "status": "True", "reason": "R", "lastTransitionTime": NOW}
        xr["status"] = {"conditions": [condition]}
    return xr


def composite(scenario: Scenario) -> Object:
    xr, objects = bare(scenario), [*existing(scenario), *foreign(scenario)]
    objects += [config_map(child_name("xr-", "uid-1", name)) for name in sorted(scenario.missing)]
    if not objects:
        return xr
    references = [
        {
            "apiVersion": obj["apiVersion"],
            "kind": obj["kind"],
            "name": obj["metadata"]["name"],
            **({"namespace": "default"} if scenario.is_legacy else {}),
        }
        for obj in objects
    ]
    result: Object = orjson.loads(orjson.dumps(scenario.machinery.with_field(xr, "resourceRefs", references)))
    return result


def existing(scenario: Scenario) -> list[Object]:
    return [_existing(scenario, name) for name in sorted(scenario.existing)]


def _existing(scenario: Scenario, name: str) -> Object:
    owner = owner_from(bare(scenario))
    metadata: Object = {
        "uid": f"uid-of-{name}",
        "annotations": {"crossplane.io/composition-resource-name": name},
        "labels": owner.labels,
    }
    if name not in scenario.free:
        metadata["ownerReferences"] = [owner.reference]
    if name in scenario.leaving:
        metadata |= {"deletionTimestamp": NOW, "finalizers": [FOREIGN_FINALIZER]}
    obj = config_map(child_name("xr-", "uid-1", name), **metadata)
    if name in scenario.replaced:
        obj |= {"apiVersion": GADGET.api_version, "kind": GADGET.kind}
    return obj


def foreign(scenario: Scenario) -> list[Object]:
    """What another composite resource controls."""
    owner = owner_from({**bare(scenario), "metadata": {"name": "other", "uid": "uid-2"}})
    return [
        config_map(
            f"other-{name}",
            uid=f"uid-of-other-{name}",
            annotations={"crossplane.io/composition-resource-name": name},
            ownerReferences=[owner.reference],
        )
        for name in sorted(scenario.foreign)
    ]


def has_claim(scenario: Scenario) -> bool:
    """Whether the composite resource belongs to a claim: only a legacy one can."""
    return scenario.has_claim and scenario.is_legacy


def claim(scenario: Scenario) -> Object:
    """The claim of the composite resource, as it is once it was reconciled."""
    metadata = {
        "name": "mine",
        "namespace": "default",
        "uid": "uid-of-claim",
        "resourceVersion": "7",
        "generation": 1,
        "finalizers": [CLAIM_FINALIZER],
    }
    reference = {"apiVersion": "example.org/v1", "kind": "XBucket", "name": "xr"}
    spec = {"size": scenario.size, "compositionRef": {"name": "comp"}, "resourceRef": reference}
    return {"apiVersion": CLAIM.api_version, "kind": CLAIM.kind, "metadata": metadata, "spec": spec}


def required(scenario: Scenario) -> list[Object]:
    return [config_map(name, labels={"role": "required"}) for name in sorted(scenario.required)]


def config_map(name: str, **metadata: Any) -> Object:
    place = {"name": name, "namespace": "default", "resourceVersion": "5"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**place, **metadata}}
