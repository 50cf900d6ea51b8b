"""What a script says besides the resources that it desires: conditions, events, requirements and the like."""

from __future__ import annotations

from base64 import b64encode

from crossply.functions.builtin.starlark.conversion import go_type
from crossply.functions.builtin.starlark.language.arguments import (
    DICT,
    MISSING,
    STRING,
    Positional,
    Signature,
    optional,
    required,
)
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.go_strings import to_bytes
from crossply.functions.builtin.starlark.language.values import Builtin, Value, is_int, to_repr, type_name
from crossply.values import Object
from crossply.values.durations import parse_duration
from crossply.values.goquote import quote

READY_CONDITION = "ComposedResourcesReady"
"""The condition that says why an XR is not ready; scripts do not set it themselves."""
_MAX_SECONDS = 9223372036
_SECOND = 10**9


class Fatal(EvalError):
    """The script called fatal()."""


class Collected:
    """What the calls of a script collect."""

    def __init__(self) -> None:
        self.conditions: list[dict[str, str]] = []
        self.events: list[dict[str, str]] = []
        self.connection: dict[str, str] = {}
        self.requirements: dict[str, Object] = {}
        self.warnings: list[str] = []
        self.ttl: int | None = None
        """In nanoseconds; zero for none."""

    def add_event(self, severity: str, message: str, target: str = "Composite") -> None:
        self.events.append({"severity": severity, "message": message, "target": target})

    def add_condition(self, kind: str, status: str, reason: str, message: str, target: str) -> None:
        self.conditions.append(
            {"type": kind, "status": status, "reason": reason, "message": message, "target": target}
        )

    def builtins(self) -> dict[str, Builtin]:
        return {
            "set_condition": Builtin("set_condition", self._set_condition),
            "emit_event": Builtin("emit_event", self._emit_event),
            "fatal": Builtin("fatal", _fatal),
            "set_connection_details": Builtin("set_connection_details", self._set_connection_details),
            "require_extra_resource": Builtin("require_extra_resource", self._require_one),
            "require_extra_resources": Builtin("require_extra_resources", self._require_many),
            "require_resource": Builtin("require_extra_resource", self._require_one),
            "require_resources": Builtin("require_extra_resources", self._require_many),
            "set_response_ttl": Builtin("set_response_ttl", self._set_ttl),
        }

    def _set_condition(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        kind, status, reason, message, target = _CONDITION.bind(args, kwargs)
        if kind == READY_CONDITION:
            raise EvalError(
                f"set_condition: {quote(kind)} is reserved for composite-ready gating; use "
                "set_composite_ready() or Resource(..., when=False) instead"
            )
        self.add_condition(kind, status, reason, message, target)

    def _emit_event(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        severity, message, target = _EVENT.bind(args, kwargs)
        if severity not in ("Normal", "Warning"):
            raise EvalError(f'emit_event: severity must be "Normal" or "Warning", got {quote(severity)}')
        self.add_event(severity, message, target)

    def _set_connection_details(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        (details,) = Positional("set_connection_details", 1, DICT).bind(args, kwargs)
        self.connection.update(encoded_details("set_connection_details: ", details))

    def _require_one(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        name, version, kind, match_name, labels, namespace = _REQUIRE_ONE.bind(args, kwargs)
        if not match_name and labels is MISSING:
            raise EvalError("require_extra_resource: must specify at least one of match_name or match_labels")
        if match_name and labels is not MISSING:
            self.warnings.append(
                f"require_extra_resource({quote(name)}): match_name {quote(match_name)} takes precedence; "
                "match_labels ignored"
            )
        match = {} if match_name else _labels("require_extra_resource", labels)
        self._require(name, version, kind, match_name, match, namespace)

    def _require_many(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        name, version, kind, labels, namespace = _REQUIRE_MANY.bind(args, kwargs)
        self._require(name, version, kind, "", _labels("require_extra_resources", labels), namespace)

    def _require(
        self, name: str, version: str, kind: str, match_name: str, labels: dict[str, str], namespace: str
    ) -> None:
        selector: Object = {"api_version": version, "kind": kind}
        if match_name:
            selector["match_name"] = match_name
        elif labels:
            selector["match_labels"] = {"labels": labels}
        if namespace:
            selector["namespace"] = namespace
        self.requirements[name] = selector

    def _set_ttl(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        (duration,) = Signature("set_response_ttl", required("duration")).bind(args, kwargs)
        self.ttl = _nanoseconds(duration)
        if self.ttl < 0:
            raise EvalError("set_response_ttl: duration must be non-negative")


_CONDITION = Signature(
    "set_condition",
    *(required(name, STRING) for name in ("type", "status", "reason", "message")),
    optional("target", STRING, "Composite"),
)
_EVENT = Signature(
    "emit_event",
    required("severity", STRING),
    required("message", STRING),
    optional("target", STRING, "Composite"),
)
_SELECTED = tuple(required(name, STRING) for name in ("name", "apiVersion", "kind"))
_NAMESPACE = optional("namespace", STRING, "")
_REQUIRE_ONE = Signature(
    "require_extra_resource",
    *_SELECTED,
    optional("match_name", STRING, ""),
    optional("match_labels", DICT),
    _NAMESPACE,
)
_REQUIRE_MANY = Signature("require_extra_resources", *_SELECTED, required("match_labels", DICT), _NAMESPACE)


def _fatal(args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    (message,) = Signature("fatal", required("message", STRING)).bind(args, kwargs)
    raise Fatal(message)


def _nanoseconds(duration: Value) -> int:
    if isinstance(duration, str):
        try:
            return parse_duration(duration)
        except ValueError as error:
            raise EvalError(f"set_response_ttl: {error}") from None
    if not is_int(duration):
        raise EvalError(f"set_response_ttl: got {type_name(duration)}, want string or int")
    if abs(duration) >= 1 << 63:
        raise EvalError("set_response_ttl: integer too large")
    if duration > _MAX_SECONDS:
        raise EvalError(
            f"set_response_ttl: integer seconds {duration} exceeds maximum ({_MAX_SECONDS} ~= 292 years)"
        )
    return int(duration) * _SECOND


def encoded_details(context: str, details: dict[Value, Value]) -> dict[str, str]:
    """Connection details in base64. The context begins the message about one that is no string."""
    for key, value in details.items():
        for part, name in ((key, "key"), (value, "value")):
            if part.__class__ is not str:
                raise EvalError(f"{context}{name} must be string, got {type_name(part)}")
    return {key: b64encode(to_bytes(value)).decode() for key, value in details.items()}


def _labels(function: str, labels: dict[Value, Value]) -> dict[str, str]:
    for key, value in labels.items():
        if key.__class__ is not str:
            raise EvalError(f"{function}: match_labels: key {to_repr(key)} ({go_type(key)}) is not a string")
        if value.__class__ is not str:
            problem = f"value for key {quote(key)} ({go_type(value)}) is not a string"
            raise EvalError(f"{function}: match_labels: {problem}")
    return dict(labels)
