"""Providers that start safely: with no kind active they need not run."""

from __future__ import annotations

import re
from collections.abc import Iterable

from crossply.compose.conditions import read_conditions
from crossply.control.managed_definitions.conversion import ACTIVE
from crossply.values import Object

SAFE_START = "safe-start"
RUNTIME_ACTIVE = "RuntimeActive"
_RAN_BEFORE = "ActiveRuntime"
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
    if any(known["type"] == RUNTIME_ACTIVE and known["reason"] == _RAN_BEFORE for known in conditions):
        return False
    known_states = list(states)
    return bool(known_states) and ACTIVE not in known_states


def _plain(capability: str) -> str:
    return _IGNORED.sub("", capability.lower())
