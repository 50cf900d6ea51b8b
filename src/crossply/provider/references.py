"""Fields of a managed resource that take the external name of other resources, by reference or by selector.

A value that is set stays, unless the policy is `resolve: Always`. A reference comes before a selector, except
with `Always` on the selector, which selects again in each reconcile.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, NamedTuple

from crossply.compose.object_metadata import annotations_of, controller_of, name_of, namespace_of
from crossply.errors import CrossplyError
from crossply.kube.kind import Kind
from crossply.provider.context import EXTERNAL_NAME
from crossply.provider.creation import is_created
from crossply.provider.decode import FieldAt, find_fields
from crossply.provider.field_model import Reference, Struct
from crossply.provider.managed_kind import ManagedKind, referenced_kind
from crossply.provider.reconcile_effects import Effects, ListReferenced, ReadReferenced
from crossply.values import Object
from crossply.values.merge_patch import merge_patch_to

FIELD_MANAGER = "managed.crossplane.io/api-simple-reference-resolver"
NO_VALUE = "referenced field was empty (referenced resource may not yet be ready)"
NO_MATCH = "no resources matched selector"


class UnresolvedReference(CrossplyError):
    """An object that a managed resource refers to does not exist yet, or has no external name yet."""

    code = "CP-882"
    hint = "create the referenced resource, or correct the reference or the labels of the selector"


class _Resolved(NamedTuple):
    value: str
    reference: Object


class _Request(NamedTuple):
    """One field to resolve."""

    resource: Object
    target: ManagedKind
    """The kind of what is referred to."""
    is_list: bool
    value: Any
    references: list[Object]
    selector: Object | None

    @property
    def kind(self) -> Kind:
        return self.target.kind

    @property
    def is_needed(self) -> bool:
        if self.value and not self._is_always:
            return False
        return bool(self.references) or self.selector is not None

    @property
    def _is_always(self) -> bool:
        if self.selector is not None:
            return _is_always(self.selector)
        return any(map(_is_always, self.references))


def resolve_references(resource: Object, parameters: Struct) -> Effects[Object | None]:
    """The fields of `spec.forProvider` that resolving changes; None where there are none."""
    live = (resource.get("spec") or {}).get("forProvider") or {}
    resolved = live
    for place in find_fields(parameters, live, Reference):
        request = _request(resource, place, live)
        if not request.is_needed:
            continue
        try:
            answer = yield from _resolve(request)
        except UnresolvedReference as problem:
            raise problem.within(_dotted(place)) from problem
        if answer is not None:
            resolved = copy.deepcopy(live) if resolved is live else resolved
            _place(resolved, place, answer, request.is_list)
    return merge_patch_to(resolved, live) or None


def _request(resource: Object, place: FieldAt, parameters: Object) -> _Request:
    reference = place.field.type
    assert isinstance(reference, Reference)
    fields = _at(parameters, place.path)
    named, selector = fields.get(place.field.ref_name), fields.get(place.field.selector_name)
    references = named if reference.is_list else [named]
    # A reference that is selected again in each reconcile ignores the name that was selected last.
    references = [] if selector and _is_always(selector) else [entry for entry in references or () if entry]
    value = fields.get(place.field.json_name)
    return _Request(resource, referenced_kind(reference), reference.is_list, value, references, selector)


def _resolve(request: _Request) -> Effects[list[_Resolved] | None]:
    """What the field refers to; None where that is optional and missing."""
    if request.references:
        return (yield from _named(request))
    return (yield from _selected(request))


def _named(request: _Request) -> Effects[list[_Resolved] | None]:
    resolved = []
    for reference in request.references:
        namespace = _namespace(request, reference)
        name = str(reference.get("name", ""))
        referenced = yield ReadReferenced(request.kind, namespace, name)
        if referenced is None:
            kind = f"{request.kind.kind}.{request.kind.group}"
            problem = f'cannot get referenced resource: {kind} "{name}" not found'
        else:
            problem = "" if _external_name(request, referenced) else NO_VALUE
        if problem:
            return _missing(reference, problem)
        resolved.append(_Resolved(_external_name(request, referenced), reference))
    return resolved


def _selected(request: _Request) -> Effects[list[_Resolved] | None]:
    selector = request.selector or {}
    namespace = _namespace(request, selector)
    candidates = yield ListReferenced(request.kind, namespace, selector.get("matchLabels") or {})
    matches = list(_matching(request, candidates))
    if not request.is_list:
        matches = matches[:1]
    if not matches:
        return _missing(selector, NO_MATCH)
    resolved = {_external_name(request, match): _reference_to(match) for match in matches}
    if "" in resolved:
        return _missing(selector, NO_VALUE)
    return [_Resolved(value, resolved[value]) for value in sorted(resolved)]


def _matching(request: _Request, candidates: Iterable[Object]) -> Iterable[Object]:
    if not (request.selector or {}).get("matchControllerRef"):
        yield from candidates
        return
    controller = controller_of(request.resource)
    for candidate in candidates:
        other = controller_of(candidate)
        # Two resources without a controller do not have the same one.
        if controller and other and controller.get("uid") == other.get("uid"):
            yield candidate


def _missing(policy_holder: Object, problem: str) -> list[_Resolved] | None:
    """Nothing, where the policy allows that."""
    if (policy_holder.get("policy") or {}).get("resolution") == "Optional":
        return None
    raise UnresolvedReference(problem)


def _is_always(policy_holder: Object) -> bool:
    return (policy_holder.get("policy") or {}).get("resolve") == "Always"


def _namespace(request: _Request, holder: Object) -> str:
    if not request.kind.namespaced:
        return ""
    return str(holder.get("namespace") or namespace_of(request.resource))


def _external_name(request: _Request, referenced: Object) -> str:
    """The external name of a resource; empty where it is not known yet."""
    name = annotations_of(referenced).get(EXTERNAL_NAME, "")
    if request.target.settings.deterministic_external_name or name != name_of(referenced):
        return name
    # Until it is created, a resource has its own name in place of the one that will be chosen.
    return name if is_created(referenced) else ""


def _reference_to(resource: Object) -> Object:
    namespace = namespace_of(resource)
    return {"name": name_of(resource), **({"namespace": namespace} if namespace else {})}


def _place(parameters: Object, place: FieldAt, resolved: list[_Resolved], is_list: bool) -> None:
    fields = _at(parameters, place.path)
    values, references = [entry.value for entry in resolved], [entry.reference for entry in resolved]
    fields[place.field.json_name] = values if is_list else values[0]
    fields[place.field.ref_name] = references if is_list else references[0]


def _at(parameters: Any, path: Iterable[str | int]) -> Any:
    for step in path:
        parameters = parameters[step]
    return parameters


def _dotted(place: FieldAt) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place.value_path)
    return f"spec.forProvider{''.join(steps)}"


def applied_spec(live: Object, for_provider: Object) -> Object:
    """The spec to apply: what was resolved now, and what an earlier apply set and still holds.

    Server-side apply removes what its manager set before and leaves out now.
    """
    spec = live.get("spec") or {}
    for entry in live["metadata"].get("managedFields") or ():
        if entry.get("manager") == FIELD_MANAGER and entry.get("operation") == "Apply":
            fields = (entry.get("fieldsV1") or {}).get("f:spec") or {}
            earlier = _owned(spec, fields)
            return {"forProvider": {**earlier.get("forProvider", {}), **for_provider}}
    return {"forProvider": for_provider}


def _owned(value: Any, fields: Object) -> Any:
    names = [name[2:] for name in fields if name.startswith("f:")]
    if not names or not isinstance(value, dict):
        return value
    return {name: _owned(value[name], fields[f"f:{name}"]) for name in names if name in value}
