"""What to say of a resource whose change the API server refuses: which field stays, and the way out."""

from __future__ import annotations

from crossply.compose.object_metadata import name_of, namespace_of
from crossply.control.controller_context import Plane
from crossply.control.planning.dry_run_store import DryRunStore
from crossply.control.planning.field_changes import fields_between
from crossply.control.planning.immutable_fields import attempted_changes, immutable_fields
from crossply.control.planning.managed_notes import is_managed
from crossply.control.planning.object_tree import Node
from crossply.kube.core_kinds import CRD
from crossply.kube.failures import KubeError
from crossply.values import Object
from crossply.values.api_version import split_api_version
from crossply.values.merge_patch import merge_patch


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
