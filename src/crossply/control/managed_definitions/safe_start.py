"""Providers that start safely: with no kind active they need not run."""

from __future__ import annotations

import re
from collections.abc import Iterable

import orjson

from crossply.compose.conditions import read_conditions
from crossply.compose.events import StatusCondition
from crossply.compose.object_metadata import controller_of
from crossply.control.kinds import MANAGED_DEFINITION, PROVIDER_REVISION
from crossply.control.managed_definitions.conversion import ACTIVE, INACTIVE
from crossply.control.managed_definitions.definition_informer import state_of
from crossply.kube.informer import Informer
from crossply.kube.watch import Key
from crossply.values import Object

SAFE_START = "safe-start"
RUNS = StatusCondition("RuntimeActive", "True", "ActiveRuntime")
AWAITS = StatusCondition(
    "RuntimeActive",
    "False",
    "AwaitingActivation",
    "Package runtime is scaled to zero; awaiting the first ManagedResourceDefinition to be activated",
)
_IGNORED = re.compile("[^a-z0-9]+")


def has_safe_start(capabilities: Iterable[str]) -> bool:
    """Whether capabilities of a package name this one, in whatever spelling."""
    return any(_plain(capability) == _plain(SAFE_START) for capability in capabilities)


def awaits_activation(revision: Object, states: Iterable[str]) -> bool:
    """Whether a revision has nothing to do, by the states of the definitions that it controls.

    A Provider that ran once runs on: it may still have resources to delete.
    """
    status = revision.get("status") or {}
    if not has_safe_start(status.get("capabilities") or ()):
        return False
    conditions = read_conditions(status)
    if any((known["type"], known["reason"]) == (RUNS.type, RUNS.reason) for known in conditions):
        return False
    known_states = list(states)
    return bool(known_states) and ACTIVE not in known_states


def definition_states(definitions: Informer, revision: Object) -> list[str]:
    """The states of the definitions that a revision brought; one that is not known yet is inactive."""
    references = (revision.get("status") or {}).get("objectRefs") or ()
    names = [reference["name"] for reference in references if reference["kind"] == MANAGED_DEFINITION.kind]
    known = (definitions.get("", name) for name in names)
    return [INACTIVE if data is None else state_of(orjson.loads(data)) for data in known]


def activated_revision(key: Key, old: bytes | None, new: bytes | None) -> Iterable[Key]:
    """Enqueues the revision that controls a definition which becomes active."""
    after = {} if new is None else orjson.loads(new)
    if not after or state_of(after) != ACTIVE or (old and state_of(orjson.loads(old)) == ACTIVE):
        return
    owner = controller_of(after)
    if owner is not None and owner.get("kind") == PROVIDER_REVISION.kind:
        yield "", str(owner.get("name", ""))


def _plain(capability: str) -> str:
    return _IGNORED.sub("", capability.lower())
