"""Resource(): what a script desires, leaves out, or keeps as it is observed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from crossply.functions.builtin.starlark.conversion import plain_object
from crossply.functions.builtin.starlark.language.arguments import (
    ANY,
    BOOL,
    DICT,
    LIST,
    MISSING,
    STRING,
    Signature,
    optional,
    optional_or_none,
    required,
)
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.values import (
    ApplicationValue,
    AttrDict,
    Builtin,
    Value,
    type_name,
)
from crossply.functions.builtin.starlark.library.dicts import compacted
from crossply.functions.builtin.starlark.resource_labels import add_external_name, add_labels
from crossply.functions.builtin.starlark.response_builtins import Collected, encoded_details
from crossply.functions.builtin.starlark.schemas import SchemaDict
from crossply.values import Object
from crossply.values.goquote import quote

_READY = {None: 0, True: 1, False: 2}
_SERVER_FIELDS = ("managedFields", "resourceVersion", "uid", "generation", "creationTimestamp")
_NO_BODY = (
    "body is None. If this resource exists, it will be removed from desired state. "
    "Set preserve_observed=True to re-emit the observed body when body is None."
)
_GATED = "gated by when=False, not found in observed state (preserve_observed=True)"


class ResourceRef(ApplicationValue):
    """What Resource() returns: it can be passed to depends_on."""

    type_name = "ResourceRef"

    def __init__(self, name: str) -> None:
        self.name = name

    def attribute(self, name: str) -> Value:
        return {"name": self.name}[name]

    def attribute_names(self) -> list[str]:
        return ["name"]

    def text(self) -> str:
        return self.name


class SkippedRef(ApplicationValue):
    """What Resource() returns for a resource that is left out. It is false."""

    type_name = "SkippedRef"

    def __init__(self, name: str, is_optional: bool) -> None:
        self.name = name
        self.is_optional = is_optional

    def __bool__(self) -> bool:
        return False

    def attribute(self, name: str) -> Value:
        return {"name": self.name, "optional": self.is_optional}[name]

    def attribute_names(self) -> list[str]:
        return ["name", "optional"]

    def text(self) -> str:
        return self.name


class Dependency(NamedTuple):
    """A resource that waits for another one, or for a field of it."""

    dependent: str
    needed: str
    is_reference: bool
    """Whether the script named what Resource() returned, not a string."""
    field: str = ""


class Pending(NamedTuple):
    """A resource that is not there yet, and why."""

    name: str
    reason: str


class ReadyOverride(NamedTuple):
    """What set_composite_ready() was called with."""

    ready: bool
    reason: str
    message: str


_RESOURCE = Signature(
    "Resource",
    required("name", STRING),
    required("body"),
    optional("ready", ANY, None),
    optional("labels"),
    optional_or_none("connection_details", DICT),
    optional_or_none("depends_on", LIST),
    optional_or_none("external_name", ANY),
    optional("when"),
    optional("skip_reason", STRING, ""),
    optional("preserve_observed"),
    optional("optional", BOOL, False),
)
_SKIP = Signature("skip_resource", required("name", STRING), required("reason", STRING))
_SET_READY = Signature(
    "set_composite_ready",
    required("ready", BOOL),
    optional("reason", STRING, ""),
    optional("message", STRING, ""),
)


class DesiredResources:
    """The resources that a script desires."""

    def __init__(self, collected: Collected, composite: Object, observed: Mapping[str, Object]) -> None:
        self._collected, self._composite, self._observed = collected, composite, observed
        self.resources: dict[str, Object] = {}
        """In the form of a response."""
        self.dependencies: list[Dependency] = []
        self.skips: list[Pending] = []
        """Those that keep the XR from being ready."""
        self.ready: ReadyOverride | None = None
        self._skipped: set[str] = set()

    def builtins(self) -> dict[str, Builtin]:
        return {
            "Resource": Builtin("Resource", self._resource),
            "skip_resource": Builtin("skip_resource", self._skip_resource),
            "set_composite_ready": Builtin("set_composite_ready", self._set_ready),
        }

    def _set_ready(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        self.ready = ReadyOverride(*_SET_READY.bind(args, kwargs))

    def _skip_resource(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        name, reason = _SKIP.bind(args, kwargs)
        if name in self.resources:
            raise EvalError(f"resource {quote(name)} already emitted, cannot skip")
        self._skip(name, reason, is_optional=True)

    def _skip(self, name: str, reason: str, is_optional: bool) -> SkippedRef:
        if name not in self._skipped:
            self._skipped.add(name)
            if not is_optional:
                self.skips.append(Pending(name, reason))
            self._collected.add_event("Warning", f"Skipping resource {quote(name)}: {reason}")
        return SkippedRef(name, is_optional)

    def _resource(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> ResourceRef | SkippedRef:
        name, body, ready, labels, details, depends_on, external_name, *gate = _RESOURCE.bind(args, kwargs)
        replaced = self._gated(name, body, *gate)
        if replaced is not None:
            return replaced
        is_optional = gate[-1]
        dependencies = [] if depends_on is MISSING else depends_on
        for dependency in dependencies:
            first = dependency[0] if isinstance(dependency, tuple) and len(dependency) == 2 else dependency
            if isinstance(first, SkippedRef) and not first.is_optional:
                return self._skip(name, f"depends on skipped {quote(first.name)}", is_optional)
        obj = _object(name, body)
        if external_name is not MISSING:
            add_external_name(obj, external_name, name, self._collected)
        add_labels(obj, labels, self._composite, name, self._collected)
        context = f"Resource({quote(name)}): connection_details "
        encoded = {} if details is MISSING else encoded_details(context, details)
        for index, dependency in enumerate(dependencies):
            self._depend(name, index, dependency)
        self.resources[name] = {
            "resource": obj,
            "ready": _readiness(name, ready),
            "connection_details": encoded,
        }
        return ResourceRef(name)

    def _gated(
        self, name: str, body: Value, when: Value, reason: str, preserve: Value, is_optional: bool
    ) -> ResourceRef | SkippedRef | None:
        """The reference of a resource that is left out or kept; None for one that is desired."""
        is_off = _is_false(name, "when", when)
        _is_false(name, "preserve_observed", preserve)
        if is_off and preserve is not True:
            if not reason:
                raise EvalError(f"Resource({quote(name)}): skip_reason is required when when=False")
            return self._skip(name, reason, is_optional)
        if is_off:
            preserved = self._preserve(name, "observed body emitted, gated by when=False")
            return preserved or self._skip(name, reason or _GATED, is_optional)
        if body is not None:
            return None
        if preserve is not True:
            return self._skip(name, _NO_BODY, is_optional)
        preserved = self._preserve(name, "body=None, emitting observed body")
        return preserved or self._skip(name, "not found in observed state", is_optional)

    def _preserve(self, name: str, message: str) -> ResourceRef | None:
        """Desire a resource as it is observed, if it is."""
        if name not in self._observed:
            return None
        obj = {field: value for field, value in self._observed[name].items() if field != "status"}
        metadata = obj.get("metadata")
        if isinstance(metadata, dict):
            obj["metadata"] = {key: value for key, value in metadata.items() if key not in _SERVER_FIELDS}
        self.resources[name] = {"resource": plain_object(obj), "ready": 0, "connection_details": {}}
        self._collected.add_event("Warning", f"Preserving resource {quote(name)}: {message}")
        return ResourceRef(name)

    def _depend(self, name: str, index: int, dependency: Value) -> None:
        where = f"Resource({quote(name)}): depends_on[{index}]"
        if dependency is None or isinstance(dependency, SkippedRef):
            return
        if isinstance(dependency, ResourceRef | str):
            self.dependencies.append(_dependency(name, dependency))
            return
        if not isinstance(dependency, tuple):
            raise EvalError(
                f"{where} must be ResourceRef, SkippedRef, string, tuple, or None, "
                f"got {type_name(dependency)}"
            )
        if len(dependency) != 2:
            raise EvalError(f"{where} tuple must have exactly 2 elements, got {len(dependency)}")
        needed, field = dependency
        if isinstance(needed, SkippedRef):
            return
        if not isinstance(needed, ResourceRef | str):
            raise EvalError(
                f"{where} tuple first element must be ResourceRef, SkippedRef, or string, "
                f"got {type_name(needed)}"
            )
        if not isinstance(field, str):
            raise EvalError(f"{where} tuple second element must be string, got {type_name(field)}")
        if not field:
            raise EvalError(f"{where} tuple field path must not be empty")
        self.dependencies.append(_dependency(name, needed, field))


def _dependency(dependent: str, needed: ResourceRef | str, field: str = "") -> Dependency:
    if isinstance(needed, str):
        return Dependency(dependent, needed, False, field)
    return Dependency(dependent, needed.name, True, field)


def _is_false(name: str, parameter: str, value: Value) -> bool:
    if value is not MISSING and not isinstance(value, bool):
        raise EvalError(f"Resource({quote(name)}): {parameter} must be bool, got {type_name(value)}")
    return value is False


def _object(name: str, body: Value) -> Object:
    """The body as an object, without fields that are None."""
    if not isinstance(body, dict) or (isinstance(body, AttrDict) and not isinstance(body, SchemaDict)):
        raise EvalError(f"Resource({quote(name)}): body must be dict, got {type_name(body)}")
    try:
        compact_body = compacted("Resource", body)
    except EvalError as error:
        raise EvalError(f"Resource({quote(name)}): compact: {error}") from None
    try:
        return plain_object(compact_body)
    except EvalError as error:
        raise EvalError(f"Resource({quote(name)}): {error}") from None


def _readiness(name: str, ready: Value) -> int:
    if ready is not None and not isinstance(ready, bool):
        raise EvalError(
            f"Resource({quote(name)}): ready must be True, False, or None, got {type_name(ready)}"
        )
    return _READY[ready]
