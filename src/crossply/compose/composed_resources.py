"""From the desired state to the objects that will be applied.

The engine owns a composed resource's identity: its name and namespace once it exists, the labels and the
annotation by which it is found again, and the owner reference by which it is deleted with its owner. A
function cannot change any of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from crossply.compose.effects import Effects, IsNamespaced
from crossply.compose.errors import ComposedResourceError
from crossply.compose.events import NAMESPACE_OVERRIDDEN, WARNING, Event
from crossply.compose.function_messages import READY_TRUE, Resource, Snapshot
from crossply.compose.object_metadata import (
    COMPOSITE_LABEL,
    RESOURCE_NAME_ANNOTATION,
    Owner,
    group_kind,
    metadata_of,
    name_of,
    string_map,
    text_in,
)
from crossply.compose.observed_resources import Observed
from crossply.compose.resource_names import child_name, is_valid_name
from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire


class Composed(NamedTuple):
    """One resource to apply."""

    name: str
    object: Object
    ready: bool
    observed: Snapshot | None
    """What exists of it; None also where that is to be replaced by an object of another kind."""


def build_composed(
    desired: Mapping[str, Resource], observed: Mapping[str, Observed], owner: Owner, events: list[Event]
) -> Effects[tuple[Composed, ...]]:
    """The objects to apply, in order of their names in the pipeline."""
    scopes: dict[tuple[str, str], bool] = {}
    composed = []
    for name in sorted(desired):
        resource = desired[name]
        obj = _object_of(name, resource)
        metadata = dict(metadata_of(obj))
        obj["metadata"] = metadata
        existing = observed.get(name)
        if existing is not None:
            _keep_identity(metadata, metadata_of(existing.snapshot.object))
        if owner.namespace:
            yield from _check_namespace(name, obj, metadata, owner.namespace, scopes, events)
        _inherit(name, metadata, owner)
        _check_name(name, obj, metadata)
        snapshot = existing.snapshot if existing is not None else None
        if snapshot is not None and group_kind(snapshot.object) != group_kind(obj):
            snapshot = None
        composed.append(Composed(name, obj, resource.ready == READY_TRUE, snapshot))
    return tuple(composed)


def _object_of(name: str, resource: Resource) -> Object:
    try:
        obj: Object = from_wire(resource.object)
    except CrossplyError as problem:
        raise ComposedResourceError(
            f'cannot unmarshal desired composed resource "{name}" from RunFunctionResponse: {problem}'
        ) from problem
    return obj


def _keep_identity(metadata: Object, existing: Object) -> None:
    for key in ("namespace", "name", "generateName"):
        _put(metadata, key, text_in(existing, key))


def _put(fields: Object, key: str, value: Any) -> None:
    if value:
        fields[key] = value
    else:
        fields.pop(key, None)


def _check_namespace(
    name: str,
    obj: Object,
    metadata: Object,
    home: str,
    scopes: dict[tuple[str, str], bool],
    events: list[Event],
) -> Effects[None]:
    """A namespaced composite resource composes in its own namespace only."""
    namespace = text_in(metadata, "namespace")
    if namespace == home:
        return
    if namespace:
        message = (
            f'cannot create composed resource "{name}" in namespace "{namespace}", '
            f'using XR namespace "{home}" instead'
        )
        events.append(Event(WARNING, NAMESPACE_OVERRIDDEN, message))
        return
    kind = text_in(obj, "kind")
    key = (text_in(obj, "apiVersion"), kind)
    if key not in scopes:
        scopes[key] = yield from _is_namespaced(name, obj)
    if not scopes[key]:
        raise ComposedResourceError(
            f'cannot apply cluster scoped composed resource "{name}" ({_described(obj)}) '
            "for a namespaced composite resource.",
            hint="compose it from a cluster scoped composite resource",
        )


def _described(obj: Object) -> str:
    """The kind and name of an object, which may have none yet."""
    kind, name = text_in(obj, "kind"), name_of(obj)
    return f"a {kind} named {name}" if name else f"a {kind}"


def _is_namespaced(name: str, obj: Object) -> Effects[bool]:
    try:
        namespaced: bool = yield IsNamespaced(text_in(obj, "apiVersion"), text_in(obj, "kind"))
    except CrossplyError as problem:
        raise ComposedResourceError(
            f'cannot check if composed resource "{name}" is namespaced ({_described(obj)}): '
            f"failed to get restmapping: {problem}",
            hint=problem.hint,
        ) from problem
    return namespaced


def _inherit(name: str, metadata: Object, owner: Owner) -> None:
    """Everything the composite resource hands down."""
    if not owner.prefix:
        raise ComposedResourceError(
            f'cannot render metadata for composed resource "{name}": cannot find top-level composite '
            f'resource name label "{COMPOSITE_LABEL}" in composite resource metadata',
            hint="give the composite resource a name",
        )
    if not text_in(metadata, "name") and not text_in(metadata, "generateName"):
        metadata["generateName"] = owner.prefix + "-"
    if owner.namespace:
        metadata["namespace"] = owner.namespace
    metadata["annotations"] = {**string_map(metadata.get("annotations")), RESOURCE_NAME_ANNOTATION: name}
    metadata["labels"] = {**string_map(metadata.get("labels")), **owner.labels}
    metadata["ownerReferences"] = _with_owner(name, metadata, owner)
    if not text_in(metadata, "name"):
        metadata["name"] = child_name(metadata["generateName"], owner.uid, name)


def _with_owner(name: str, metadata: Object, owner: Owner) -> list[Any]:
    references = metadata.get("ownerReferences")
    if type(references) is not list or not references:
        return [owner.reference]
    others = []
    for reference in references:
        if type(reference) is not dict or reference.get("uid") == owner.uid:
            continue
        if reference.get("controller") is True:
            raise ComposedResourceError(
                f'cannot render metadata for composed resource "{name}": cannot set controller reference: '
                f"{text_in(metadata, 'name')} is already controlled by {text_in(reference, 'kind')} "
                f"{text_in(reference, 'name')} (UID {text_in(reference, 'uid')})"
            )
        others.append(reference)
    return [*others, owner.reference]


def _check_name(name: str, obj: Object, metadata: Object) -> None:
    if is_valid_name(metadata["name"], text_in(obj, "apiVersion"), text_in(obj, "kind")):
        return
    raise ComposedResourceError(
        f'cannot apply composed resource "{name}" because it has an invalid name "{metadata["name"]}". '
        "Must be a valid RFC 1123 subdomain name.",
        hint="lower case letters, digits, dots and dashes; or leave the name out and it is generated",
    )


def references_to(composed: Iterable[Composed], *, namespaced: bool) -> list[Object]:
    """The references, sorted; a namespaced composite resource leaves out the namespace they share with it."""
    references = []
    for resource in composed:
        metadata = resource.object["metadata"]
        reference = {
            "apiVersion": text_in(resource.object, "apiVersion"),
            "kind": text_in(resource.object, "kind"),
            "name": metadata["name"],
        }
        if not namespaced and metadata.get("namespace"):
            reference["namespace"] = metadata["namespace"]
        references.append({key: value for key, value in reference.items() if value})
    references.sort(key=_reference_order)
    return references


def _reference_order(reference: dict[str, str]) -> str:
    return "".join(reference.get(key, "") for key in ("apiVersion", "kind", "name", "namespace"))
