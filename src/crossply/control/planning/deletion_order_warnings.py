"""Warns where resources go together and one refers to the other: only a Usage keeps the order; pure.

A reference does not say the kind that it is to. A resource of that name among those that go is meant, and
of several the one whose kind the field names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from crossply.compose.object_metadata import (
    controller_of,
    labels_of,
    name_of,
    namespace_of,
    string_map,
    text_in,
)
from crossply.control.planning.change_tree import DELETE, Node
from crossply.control.planning.managed_notes import is_managed
from crossply.control.usages.usage_model import Usage, UsageResource
from crossply.values import Object
from crossply.values.api_version import api_group
from crossply.values.yaml import dump

_OTHER_REFERENCES = (
    "providerConfigRef",
    "writeConnectionSecretToRef",
    "publishConnectionDetailsTo",
    "compositionRef",
    "compositionRevisionRef",
    "claimRef",
    "resourceRef",
    "resourceRefs",
)
_DEEPEST = 32


class Reference(NamedTuple):
    """A field of one resource that leads to another."""

    by: Node
    of: Node
    path: str


def add_order_warnings(roots: Iterable[Node], usages: Iterable[Usage]) -> None:
    """Warn at each resource that may go before one that refers to it, with the Usage that prevents it."""
    protections = list(usages)
    for root in roots:
        going = [node for node in root.walk() if node.action == DELETE and is_managed(node.obj)]
        for reference in _references(going):
            if not any(_protects(usage, reference) for usage in protections):
                _warn(reference)


def _warn(reference: Reference) -> None:
    user = f"{reference.by.obj.get('kind')}/{name_of(reference.by.obj)}"
    reference.of.warnings.append(
        f"may be deleted before {user}, which references it by {reference.path}: no Usage keeps the order"
    )
    usage = dump(usage_for(reference.by.obj, reference.of.obj)).rstrip()
    before = f"{reference.of.hint}\n---\n" if reference.of.hint else "apply or compose this Usage:\n"
    reference.of.hint = before + usage


def usage_for(by: Object, of: Object) -> Object:
    """The Usage that lets one resource go only after the other."""
    namespace = namespace_of(of)
    name = f"{text_in(by, 'kind').lower()}-{name_of(by)}-uses-{text_in(of, 'kind').lower()}-{name_of(of)}"
    metadata = {"name": name[:253], **({"namespace": namespace} if namespace else {})}
    return {
        "apiVersion": "protection.crossplane.io/v1beta1",
        "kind": "Usage" if namespace else "ClusterUsage",
        "metadata": metadata,
        "spec": {"of": _party(of), "by": _party(by), "replayDeletion": True},
    }


def _party(obj: Object) -> Object:
    return {
        "apiVersion": text_in(obj, "apiVersion"),
        "kind": text_in(obj, "kind"),
        "resourceRef": {"name": name_of(obj)},
    }


def _protects(usage: Usage, reference: Reference) -> bool:
    by = usage.by
    return _is(usage.of, reference.of.obj) and (by is None or _is(by, reference.by.obj))


def _is(party: UsageResource, obj: Object) -> bool:
    return (
        (party.group, party.kind) == (api_group(text_in(obj, "apiVersion")), text_in(obj, "kind"))
        and party.name == name_of(obj)
        and party.namespace in ("", namespace_of(obj))
    )


def _references(going: list[Node]) -> Iterator[Reference]:
    """What refers to what among resources that go, once each."""
    visited = set()
    for node in going:
        others = [other for other in going if other is not node]
        for path, key, value in _reference_fields(node.obj.get("spec"), "spec", _DEEPEST):
            for target in _targets(node, key, value, others):
                if (node.key, target.key) not in visited:
                    visited.add((node.key, target.key))
                    yield Reference(node, target, path)


def _reference_fields(value: Any, path: str, depth: int) -> Iterator[tuple[str, str, Object]]:
    if isinstance(value, list) and depth:
        for position, item in enumerate(value):
            yield from _reference_fields(item, f"{path}[{position}]", depth - 1)
    if not isinstance(value, dict) or not depth:
        return
    for key, member in value.items():
        place = f"{path}.{key}"
        if key in _OTHER_REFERENCES:
            continue
        if key.endswith(("Ref", "Selector")) and isinstance(member, dict):
            yield place, key, member
        elif key.endswith("Refs") and isinstance(member, list):
            yield from ((place, key, item) for item in member if isinstance(item, dict))
        else:
            yield from _reference_fields(member, place, depth - 1)


def _targets(node: Node, key: str, value: Object, others: list[Node]) -> list[Node]:
    if key.endswith("Selector"):
        return [other for other in others if _is_kind(other, key) and _is_selected(node, value, other)]
    named = [other for other in others if name_of(other.obj) == value.get("name")]
    return named if len(named) < 2 else [other for other in named if _is_kind(other, key)]


def _is_kind(node: Node, key: str) -> bool:
    """Whether the name of a field names the kind of a resource, as `subnetIdRef` does Subnet."""
    return key.lower().startswith(text_in(node.obj, "kind").lower())


def _is_selected(node: Node, selector: Object, other: Node) -> bool:
    labels = string_map(selector.get("matchLabels"))
    if not labels and selector.get("matchControllerRef") is not True:
        return False
    if selector.get("matchControllerRef") is True:
        own, theirs = controller_of(node.obj) or {}, controller_of(other.obj) or {}
        if not own.get("uid") or own.get("uid") != theirs.get("uid"):
            return False
    return labels.items() <= labels_of(other.obj).items()
