"""What a provider observed, compared with what is desired."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crossply.compose.conditions import AVAILABLE
from crossply.compose.events import StatusCondition
from crossply.provider.decode import encode, encode_value
from crossply.provider.field_model import Field, Reference, Secret, Struct
from crossply.provider.managed_kind import ManagedKind
from crossply.provider.observation import Observation, encoded_details
from crossply.provider.provider_declaration_errors import UnexpectedValue
from crossply.provider.reconcile_effects import External
from crossply.values import Object

UNAVAILABLE = StatusCondition("Ready", "False", "Unavailable")


def external_from(
    observation: Observation, kind: ManagedKind, params: Any, spec: Object, external_name: str
) -> External:
    """An observation as the reconcile sees it; `spec` is what `params` were decoded from."""
    differing = tuple(sorted(_differences(kind.parameters, params, observation.actual)))
    is_up_to_date = not differing if observation.up_to_date is None else observation.up_to_date
    return External(
        ready=_readiness(observation.ready),
        is_up_to_date=is_up_to_date,
        differing=() if is_up_to_date else differing,
        late_initialized=_unset(kind.parameters, params, observation.actual, spec),
        at_provider=_at_provider(kind, observation.observed),
        details=encoded_details(observation.connection),
        external_name=external_name,
    )


def _readiness(ready: bool | str) -> StatusCondition:
    if ready is True:
        return AVAILABLE
    return UNAVAILABLE._replace(message=ready) if isinstance(ready, str) else UNAVAILABLE


def _at_provider(kind: ManagedKind, observed: Any) -> Object | None:
    if observed is None:
        return None
    if kind.observed is None:
        raise UnexpectedValue(
            f"observe returned {type(observed).__name__}, but {kind.cls.__qualname__} declares no Observed"
        )
    return encode(kind.observed, observed)


def _differences(struct: Struct, desired: Any, actual: Mapping[str, Any]) -> Iterator[str]:
    """The JSON paths of the fields that are set, and different outside."""
    for name, value in actual.items():
        field = _field(struct, name)
        desired_value = getattr(desired, field.name)
        if desired_value is None:
            continue
        if isinstance(field.type, Struct) and value is not None:
            inner = _differences(field.type, desired_value, _mapping(field.type, value))
            yield from (f"{field.json_name}.{path}" for path in inner)
        elif not _is_equal(field, desired_value, value):
            yield field.json_name


def _is_equal(field: Field, desired: Any, actual: Any) -> bool:
    if actual is None or isinstance(field.type, Secret):
        return bool(desired == actual)
    return bool(encode_value(field.type, desired) == encode_value(field.type, actual))


def _unset(struct: Struct, params: Any, actual: Mapping[str, Any], spec: Object) -> Object:
    """Values for the fields that users did not set."""
    late: Object = {}
    for name, value in actual.items():
        field = _field(struct, name)
        if value is None or getattr(params, field.name) is not None or isinstance(field.type, Secret):
            continue
        # What a reference stands for comes from there.
        if isinstance(field.type, Reference) and (spec.get(field.ref_name) or spec.get(field.selector_name)):
            continue
        late[field.json_name] = encode_value(field.type, value)
    return late


def _field(struct: Struct, name: str) -> Field:
    field = struct.field(name)
    if field is None:
        names = ", ".join(field.name for field in struct)
        raise UnexpectedValue(
            f"observe returned the parameter {name!r}, which {struct.cls.__qualname__} does not have",
            hint=f"its parameters are: {names}",
        )
    return field


def _mapping(struct: Struct, value: Any) -> Mapping[str, Any]:
    """A part of `actual` by Python names; a dataclass may stand for it."""
    if isinstance(value, Mapping):
        return value
    return {field.name: getattr(value, field.name) for field in struct if hasattr(value, field.name)}
