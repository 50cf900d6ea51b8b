"""What to say of a resource whose change the API server refuses: which field stays, and the way out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from crossply.compose.object_metadata import name_of, namespace_of
from crossply.control.controller_context import Plane
from crossply.control.planning.change_tree import Node
from crossply.control.planning.dry_run_store import DryRunStore
from crossply.control.planning.field_changes import fields_between
from crossply.control.planning.managed_notes import is_managed
from crossply.kube.core_kinds import CRD
from crossply.kube.failures import KubeError
from crossply.values import Object
from crossply.values.api_version import split_api_version
from crossply.values.differences import MISSING, Difference, Path, differences
from crossply.values.merge_patch import merge_patch

_SAME = frozenset({"self==oldSelf", "oldSelf==self"})
_MEMBER = re.compile(r"(?:^|[^\w.])(?:self\.(\w+)==oldSelf\.\1|oldSelf\.(\w+)==self\.\2)(?![\w.(])")
"""A rule of a parent about one of its members."""


async def explain_refusals(plane: Plane, store: DryRunStore, nodes: list[Node]) -> None:
    """Say at each refused resource what would not be changed, and why."""
    for node in nodes:
        refusal = store.refused.get(node.key)
        known = store.known(node.key)
        live = known.before if known is not None else None
        if refusal is None or live is None:
            continue
        desired, problem = refusal
        changes = attempted_changes(live, desired)
        fields = immutable_fields(await _schema(plane, node), live, changes)
        node.fields = fields_between(live, merge_patch(live, {"spec": desired.get("spec")}))
        if fields:
            node.error = f"would be refused: {_named(fields)} immutable; delete and recreate it"
            node.hint = _next_step(node)
        else:
            node.error = node.error or f"would be refused: {problem}"


async def _schema(plane: Plane, node: Node) -> Object:
    """The schema of a resource's kind; empty where there is none to read."""
    try:
        crd = await plane.as_controller.get(CRD, f"{node.key.plural}.{node.key.group}")
    except KubeError:
        return {}
    version = split_api_version(str(node.obj.get("apiVersion", "")))[1]
    for served in ((crd or {}).get("spec") or {}).get("versions") or ():
        if served["name"] == version:
            schema: Object = (served.get("schema") or {}).get("openAPIV3Schema") or {}
            return schema
    return {}


def _named(fields: list[str]) -> str:
    if len(fields) == 1:
        return f"field {fields[0]} is"
    return f"fields {', '.join(fields)} are"


def _next_step(node: Node) -> str:
    place = f" -n {namespace_of(node.obj)}" if namespace_of(node.obj) else ""
    command = f"kubectl delete {node.key.plural}.{node.key.group} {name_of(node.obj)}{place}"
    lost = "; its external resource is deleted and created again" if is_managed(node.obj) else ""
    return f"{command}{lost}"


def attempted_changes(live: Object, desired: Object) -> list[Difference]:
    """What an apply that was refused would have changed of an object."""
    fields = {key: value for key, value in desired.items() if key not in ("metadata", "status")}
    return differences(live, merge_patch(live, fields))


def immutable_fields(schema: Object, live: Object, changes: list[Difference]) -> list[str]:
    """The fields among the changes whose values must stay, as users write them."""
    fields: dict[str, None] = {}
    for change in changes:
        path = _immutable_path(schema, live, change.path)
        if path is not None:
            fields[Difference(path, MISSING, MISSING).field] = None
    return list(fields)


def _immutable_path(schema: Object, live: Object, path: Path) -> Path | None:
    """The beginning of a path that a rule holds; a field without a value may still get one."""
    for depth, node in enumerate(_schemas(schema, path)):
        rules = [str(rule.get("rule", "")) for rule in node.get("x-kubernetes-validations") or ()]
        texts = ["".join(rule.split()) for rule in rules]
        if any(text in _SAME for text in texts) and _is_set(live, path[:depth]):
            return path[:depth]
        if depth < len(path) and any(path[depth] in _members(text) for text in texts):
            return path[: depth + 1]
    return None


def _schemas(schema: Object, path: Path) -> Iterator[Object]:
    """The schemas from the root along a path."""
    yield schema
    for segment in path:
        inner = (schema.get("properties") or {}).get(segment)
        if inner is None and isinstance(schema.get("items"), dict):
            inner = schema["items"]
        if inner is None and isinstance(schema.get("additionalProperties"), dict):
            inner = schema["additionalProperties"]
        if not isinstance(inner, dict):
            return
        schema = inner
        yield schema


def _members(rule: str) -> set[str]:
    return {name for match in _MEMBER.findall(rule) for name in match if name}


def _is_set(live: Any, path: Path) -> bool:
    for segment in path:
        if not isinstance(live, dict) or segment not in live:
            return isinstance(live, list)
        live = live[segment]
    return True
