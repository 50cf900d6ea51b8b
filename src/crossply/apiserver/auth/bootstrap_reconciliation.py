"""Creates and repairs the roles and bindings of `bootstrap_policy` at startup.

Missing objects are created; existing ones get back the rules, subjects, labels and annotations that they
lost, and keep additions. An object with the annotation autoupdate "false" is left alone.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from uuid import uuid4

import orjson

from crossply.apiserver.auth.bootstrap_policy import AUTO_UPDATE, cluster_role_bindings, cluster_roles
from crossply.apiserver.auth.cluster_role_aggregation import aggregated_rules
from crossply.apiserver.auth.rbac.role_index import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES
from crossply.apiserver.auth.rbac.rule_coverage import TooManyParts, uncovered
from crossply.apiserver.auth.rbac.rules import parse_rules
from crossply.apiserver.auth.store_protocols import Key, WritableStore
from crossply.apiserver.stored_object_codec import encoder
from crossply.values import Object
from crossply.values.timestamps import format_timestamp


async def ensure_policy(store: WritableStore, now: datetime) -> None:
    """Create or repair every default role and binding; all writes share a commit."""
    stamp = format_timestamp(now)
    roles = [((CLUSTER_ROLES, "", _name(role)), role) for role in _with_aggregated_rules(cluster_roles())]
    bindings = [((CLUSTER_ROLE_BINDINGS, "", _name(binding)), binding) for binding in cluster_role_bindings()]
    await asyncio.gather(*(_ensure(store, key, default, stamp) for key, default in (*roles, *bindings)))


def _with_aggregated_rules(roles: list[Object]) -> list[Object]:
    """The roles with aggregated rules, so that they apply before the aggregation controller runs."""
    for name in ("view", "edit", "admin"):  # in this order: each aggregates the one before
        role = next(role for role in roles if _name(role) == name)
        role["rules"] = aggregated_rules(role, roles)
    return roles


async def _ensure(store: WritableStore, key: Key, default: Object, stamp: str) -> None:
    entry = store.latest(key)
    if entry is None:
        await store.write(key, None, encoder(_fresh(default, stamp)))
        return
    current = orjson.loads(entry.data)
    completed = complete(current, default)
    if completed != current:
        await store.write(key, entry.revision, encoder(completed))


def complete(current: Object, default: Object) -> Object:
    """The object with everything that it lost of its default state."""
    metadata = current["metadata"]
    if (metadata.get("annotations") or {}).get(AUTO_UPDATE) == "false":
        return current
    completed = {**current, "metadata": {**metadata}}
    for field in ("labels", "annotations"):
        completed["metadata"][field] = {**default["metadata"][field], **(metadata.get(field) or {})}
    if "roleRef" in default:
        return {**completed, "subjects": _joined(current.get("subjects"), default["subjects"])}
    try:
        lost = uncovered(parse_rules(current), parse_rules(default))
    except TooManyParts:  # an administrator has changed it beyond recognition
        lost = []
    if lost:
        completed["rules"] = [*(current.get("rules") or ()), *(rule.body() for rule in lost)]
    if "aggregationRule" in default:
        completed["aggregationRule"] = current.get("aggregationRule") or default["aggregationRule"]
    return completed


def _joined(current: list[Object] | None, defaults: list[Object]) -> list[Object]:
    subjects = current or []
    return [*subjects, *(subject for subject in defaults if subject not in subjects)]


def _fresh(default: Object, stamp: str) -> Object:
    return {**default, "metadata": {**default["metadata"], "uid": str(uuid4()), "creationTimestamp": stamp}}


def _name(body: Object) -> str:
    name: str = body["metadata"]["name"]
    return name
