"""The controllers of ManagedResourceDefinitions and their policies: what each reconciles and watches."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from crossply.control.controller_context import Plane
from crossply.control.definitions.definition_indexes import CRD_METADATA
from crossply.control.kinds import ACTIVATION_POLICY, MANAGED_DEFINITION
from crossply.control.managed_definitions.activation_policy_reconciler import ActivationPolicyReconciler
from crossply.control.managed_definitions.definition_informer import acquire_definitions, state_of
from crossply.control.managed_definitions.managed_definition_reconciler import ManagedDefinitionReconciler
from crossply.kinds.activation_policy import activates
from crossply.kube.controller import Controller, EnqueuedKeys, Spec, Watch, by_name, controller_name
from crossply.kube.core_kinds import CRD
from crossply.kube.informer import Informer
from crossply.kube.watch import Key

_AT_ONCE = 10
"""A Provider may bring thousands of kinds."""


def managed_definition_controllers(plane: Plane) -> list[Controller]:
    """A controller of definitions, and one of what activates them."""
    return [_definitions(plane), _policies(plane)]


def _definitions(plane: Plane) -> Controller:
    definitions = acquire_definitions(plane.informers)
    crds = plane.informers.acquire(CRD, CRD_METADATA)
    spec = Spec(
        name=controller_name("managed", MANAGED_DEFINITION),
        reconciles=definitions,
        reconcile=by_name(ManagedDefinitionReconciler(plane, definitions, crds).reconcile),
        watches=[Watch(crds, _definition_of_crd(definitions))],
        needs=[crds],
        concurrency=_AT_ONCE,
    )
    return Controller(plane, spec)


def _definition_of_crd(definitions: Informer) -> EnqueuedKeys:
    """A definition has the name of its CRD."""
    return lambda key, old, new: (key,) if definitions.get(*key) is not None else ()


def _policies(plane: Plane) -> Controller:
    policies = plane.informers.acquire(ACTIVATION_POLICY)
    definitions = acquire_definitions(plane.informers)
    spec = Spec(
        name=controller_name("activation", ACTIVATION_POLICY),
        reconciles=policies,
        reconcile=by_name(ActivationPolicyReconciler(plane, policies, definitions).reconcile),
        watches=[Watch(definitions, _policies_of_definition(policies))],
        needs=[definitions],
    )
    return Controller(plane, spec)


def _policies_of_definition(policies: Informer) -> EnqueuedKeys:
    """A definition that is new, gone or in another state concerns the policies that match its name."""

    def keys(key: Key, old: bytes | None, new: bytes | None) -> Iterable[Key]:
        if _state(old) == _state(new):
            return
        for data in policies.objects():
            policy = orjson.loads(data)
            if activates(policy, key[1]):
                yield "", policy["metadata"]["name"]

    return keys


def _state(definition: bytes | None) -> str | None:
    return None if definition is None else state_of(orjson.loads(definition))
