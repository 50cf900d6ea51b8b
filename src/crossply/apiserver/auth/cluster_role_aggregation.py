"""The clusterrole-aggregation-controller: copies the rules of ClusterRoles that `aggregationRule` selects.

`aggregated_rules` computes the rules; the controller applies it whenever a ClusterRole changes, and again
until nothing changes, because aggregating roles may select each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import Any

import orjson

from crossply.apiserver.auth.rbac.role_index import CLUSTER_ROLES, RoleStore
from crossply.apiserver.auth.store_protocols import WritableStore
from crossply.apiserver.registry.selectors import labels_match, read_label_selector
from crossply.apiserver.stored_object_codec import encoder
from crossply.values import Object
from crossply.values.timestamps import format_timestamp

MANAGER = "clusterrole-aggregation-controller"
_STEPS = 200
_PAUSE = 1.0

Apply = Callable[[str, list[Object]], Awaitable[None]]
"""Sets the rules of the named ClusterRole, as a forced server-side apply by `MANAGER` would."""


def aggregated_rules(role: Object, roles: Iterable[Object]) -> list[Object] | None:
    """The rules that an aggregating role should have; None if it does not aggregate."""
    aggregation = role.get("aggregationRule")
    if not isinstance(aggregation, dict):
        return None
    others = sorted((other for other in roles if _name(other) != _name(role)), key=_name)
    rules: list[Object] = []
    for selector in aggregation.get("clusterRoleSelectors") or ():
        requirements = read_label_selector(selector)
        for other in others:
            if requirements is not None and labels_match(requirements, _labels(other)):
                rules += [rule for rule in other.get("rules") or () if rule not in rules]
    return rules


def _name(role: Object) -> str:
    name: str = role["metadata"]["name"]
    return name


def _labels(role: Object) -> dict[str, str]:
    return role["metadata"].get("labels") or {}


class AggregationController:
    """Keeps the rules of aggregating ClusterRoles current."""

    def __init__(self, store: RoleStore, apply: Apply) -> None:
        self._store = store
        self._apply = apply
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Watch the store until cancelled."""
        stop = self._store.subscribe(CLUSTER_ROLES, self._on_event)
        self._changed.set()
        try:
            while True:
                await self._changed.wait()
                self._changed.clear()
                if not await self.settle():
                    await asyncio.sleep(_PAUSE)
        finally:
            stop()

    def _on_event(self, _event: Any) -> None:
        self._changed.set()

    async def settle(self) -> bool:
        """Update roles until none needs a change; False if that does not end.

        Roles that select each other in a cycle may change forever, so the steps are counted.
        """
        for _ in range(_STEPS):
            change = self.next_change()
            if change is None:
                return True
            await self._apply(*change)
        return False

    def next_change(self) -> tuple[str, list[Object]] | None:
        """The first aggregating role with outdated rules, and its rules; None if all are current."""
        roles = [orjson.loads(entry.data) for entry in self._store.list(CLUSTER_ROLES)]
        for role in roles:
            rules = aggregated_rules(role, roles)
            if rules is not None and rules != (role.get("rules") or []):
                return _name(role), rules
        return None


def store_writer(store: WritableStore, clock: Callable[[], datetime]) -> Apply:
    """An `Apply` that writes to the store and records the rules in managedFields."""

    async def apply(name: str, rules: list[Object]) -> None:
        key = (CLUSTER_ROLES, "", name)
        entry = store.latest(key)
        if entry is None:
            return
        role = _owned(orjson.loads(entry.data), format_timestamp(clock()))
        await store.write(key, entry.revision, encoder({**role, "rules": rules}))

    return apply


def _owned(role: Object, stamp: str) -> Object:
    """The role with its rules owned by the aggregation controller."""
    managed_fields: Object = {
        "apiVersion": role["apiVersion"],
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:rules": {}},
        "manager": MANAGER,
        "operation": "Apply",
        "time": stamp,
    }
    metadata = role["metadata"]
    others = [entry for entry in metadata.get("managedFields") or () if entry.get("manager") != MANAGER]
    return {**role, "metadata": {**metadata, "managedFields": [managed_fields, *others]}}
