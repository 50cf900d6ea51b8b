"""function-deletion-protection: compose Usages for resources with a label, which block their deletion.

The input is `protection.fn.crossplane.io/v1beta1`. In an Operation the required resources with the label get
a Usage, and the resource that a WatchOperation watches gets one with or without it.
"""

from __future__ import annotations

from collections.abc import Iterator

from crossply.compose.function_messages import Request, Resource, Response, State, fatal, respond
from crossply.functions.builtin.input_decoder import OBJECT, InputError, boolean, decode, struct, text
from crossply.functions.builtin.usages import kind_of, metadata_of, name_of, namespace_of, protection
from crossply.functions.reply_limits import within_deadline
from crossply.values import Object
from crossply.values.durations import parse_duration

LABEL = "protection.fn.crossplane.io/block-deletion"
WATCHED = "ops.crossplane.io/watched-resource"
"""The requirement name of the resource that a WatchOperation watches."""

_REASON = "created by function-deletion-protection"
_BY_LABEL = f"{_REASON} via label {LABEL}"
_BY_COMPOSED = f"{_REASON} because a composed resource is protected"
_BY_OPERATION = f"{_REASON} by an Operation"
_BY_WATCH = f"{_REASON} by a WatchOperation"

_DEFAULT_TTL = 60 * 10**9
_GO_TYPE = "v1beta1.Input"
_INPUT = struct(_GO_TYPE, {**OBJECT, "cacheTTL": text(), "enableV1Mode": boolean})
_EMPTY = Resource({})


class _StepError(Exception):
    """A resource cannot be protected. It becomes a fatal result."""


def run(request: Request) -> Response:
    try:
        decoded = read_input(request)
    except InputError as error:
        return fatal(request, f"cannot get Function input from *v1.RunFunctionRequest: {error}")
    try:
        ttl = parse_duration(decoded["cacheTTL"]) if decoded.get("cacheTTL") else _DEFAULT_TTL
    except ValueError as error:
        return fatal(request, f"cannot set cacheTTL: {error}")
    try:
        usages = _usages(request, is_legacy=decoded.get("enableV1Mode", False))
    except _StepError as error:
        return fatal(request, str(error), ttl=ttl)
    desired = request.desired
    return respond(request, ttl=ttl, desired=State(desired.composite, {**desired.resources, **usages}))


def read_input(request: Request) -> Object:
    """The decoded input; raises InputError."""
    return decode(request, _INPUT, _GO_TYPE)


def _usages(request: Request, *, is_legacy: bool) -> dict[str, Resource]:
    """The Usages to compose, by the names of composed resources."""
    usages = dict(_for_composed(request, is_legacy))
    observed = (request.observed.composite or _EMPTY).object
    desired = (request.desired.composite or _EMPTY).object
    if usages or is_labelled(observed) or is_labelled(desired):
        if is_legacy:
            _refuse_namespaced(observed, "cannot protect composite resource")
        reason = _BY_COMPOSED if usages else _BY_LABEL
        name = f"xr-{name_of(observed)}-usage".lower()
        usages[name] = Resource(protection(observed, reason, is_legacy=is_legacy))
    usages.update(_for_required(request))
    return usages


def _for_composed(request: Request, is_legacy: bool) -> Iterator[tuple[str, Resource]]:
    """A Usage for each composed resource that exists and has the label, as observed or as desired."""
    for name, desired in within_deadline(sorted(request.desired.resources.items())):
        observed = request.observed.resources.get(name)
        if observed is None or not (is_labelled(desired.object) or is_labelled(observed.object)):
            continue
        if is_legacy:
            _refuse_namespaced(observed.object, "cannot process composed resources")
        yield f"{name}-usage", Resource(protection(observed.object, _BY_LABEL, is_legacy=is_legacy))


def _for_required(request: Request) -> Iterator[tuple[str, Resource]]:
    for requirement, resources in sorted(request.required_resources.items()):
        is_watched = requirement == WATCHED
        for required in within_deadline(resources):
            obj = required.object
            if is_watched or is_labelled(obj):
                name = f"{kind_of(obj)}-{name_of(obj)}-{namespace_of(obj)}-required-resource-fn-protection"
                reason = _BY_WATCH if is_watched else _BY_OPERATION
                yield name, Resource(protection(obj, reason, is_legacy=False))


def is_labelled(obj: Object) -> bool:
    """Whether a resource asks for protection."""
    labels = metadata_of(obj).get("labels")
    if not isinstance(labels, dict) or not all(isinstance(value, str) for value in labels.values()):
        return False
    value: str = labels.get(LABEL, "")
    return value.lower() == "true"


def _refuse_namespaced(obj: Object, context: str) -> None:
    """Raise an error for a namespaced resource, which a Usage of v1 cannot protect."""
    namespace = namespace_of(obj)
    if namespace:
        raise _StepError(
            f"{context}: cannot protect namespaced resource "
            f"(kind: {kind_of(obj)}, name: {name_of(obj)}, namespace: {namespace}) with enableV1Mode=true. "
            "v1 usages only support cluster-scoped resources."
        )
