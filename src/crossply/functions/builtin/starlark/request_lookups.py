"""What a script calls to read fields of objects, and the resources of the request."""

from __future__ import annotations

from collections.abc import Mapping

from crossply.functions.builtin.starlark.language.arguments import (
    ANY,
    MISSING,
    STRING,
    Signature,
    optional,
    required,
)
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.indexing import set_index
from crossply.functions.builtin.starlark.language.values import AttrDict, Builtin, Value, type_name
from crossply.values.goquote import quote

_CONDITION_FIELDS = ("status", "reason", "message", "lastTransitionTime")
_GET = Signature("get", required("obj"), required("path"), optional("default", ANY, None))
_GET_OBSERVED = Signature(
    "get_observed", required("name", STRING), required("path"), optional("default", ANY, None)
)
_GET_EXTRA = Signature(
    "get_extra_resource", required("name", STRING), optional("path"), optional("default", ANY, None)
)
_GET_EXTRAS = Signature(
    "get_extra_resources", required("name", STRING), optional("path"), optional("default")
)
_BODY = Signature("observed_body", required("name", STRING), optional("default", ANY, None))
_IS_OBSERVED = Signature("is_observed", required("name", STRING))
_CONDITION = Signature("get_condition", required("name", STRING), required("type", STRING))
_STATUS = Signature("set_xr_status", required("path", STRING), required("value"))


def keys_of(path: Value) -> list[str]:
    """The keys of a path: names with dots between them, or a list of names."""
    if isinstance(path, str):
        return path.split(".")
    if not isinstance(path, list):
        raise EvalError(f"get: path must be string or list, got {type_name(path)}")
    for index, key in enumerate(path):
        if not isinstance(key, str):
            raise EvalError(f"get: path list element {index} is {type_name(key)}, want string")
    return path


def walk(value: Value, keys: list[str], default: Value) -> Value:
    """The field at a path; the default for one that is missing or None."""
    for key in keys:
        if not isinstance(value, dict):
            return default
        value = value.get(key)
        if value is None:
            return default
    return value


def _get(args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    obj, path, default = _GET.bind(args, kwargs)
    return walk(obj, keys_of(path), default)


def _metadata(function: str, field: str) -> Builtin:
    signature = Signature(function, required("res"), required("key", STRING), optional("default", ANY, None))

    def implementation(args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        resource, key, default = signature.bind(args, kwargs)
        _check_filled(function, "key", key)
        values = walk(resource, ["metadata", field], None)
        return values.get(key, default) if isinstance(values, dict) else default

    return Builtin(function, implementation)


def _check_filled(function: str, name: str, value: Value) -> None:
    if value == "" or value == []:
        raise EvalError(f"{function}: {name} must not be empty")


class Readers:
    """The functions that read a request."""

    def __init__(self, desired: AttrDict, observed: Mapping[str, Value], extra: Mapping[str, Value]) -> None:
        self._desired, self._observed, self._extra = desired, observed, extra

    def builtins(self) -> dict[str, Builtin]:
        functions = {
            "get": _get,
            "get_observed": self._get_observed,
            "is_observed": self._is_observed,
            "observed_body": self._observed_body,
            "get_condition": self._get_condition,
            "get_extra_resource": self._get_extra_resource,
            "get_extra_resources": self._get_extra_resources,
            "set_xr_status": self._set_status,
        }
        return {
            **{name: Builtin(name, function) for name, function in functions.items()},
            "get_label": _metadata("get_label", "labels"),
            "get_annotation": _metadata("get_annotation", "annotations"),
        }

    def _get_observed(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        name, path, default = _GET_OBSERVED.bind(args, kwargs)
        _check_filled("get_observed", "name", name)
        _check_filled("get_observed", "path", path)
        return walk(self._observed.get(name), keys_of(path), default)

    def _is_observed(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> bool:
        (name,) = _IS_OBSERVED.bind(args, kwargs)
        _check_filled("is_observed", "name", name)
        return name in self._observed

    def _observed_body(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        name, default = _BODY.bind(args, kwargs)
        _check_filled("observed_body", "name", name)
        return self._observed.get(name, default)

    def _get_condition(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        name, kind = _CONDITION.bind(args, kwargs)
        _check_filled("get_condition", "name", name)
        _check_filled("get_condition", "type", kind)
        conditions = walk(self._observed.get(name), ["status", "conditions"], ())
        for condition in conditions if isinstance(conditions, list) else ():
            if isinstance(condition, dict) and condition.get("type") == kind:
                values = {field: condition.get(field) for field in _CONDITION_FIELDS}
                return {field: "" if value is None else value for field, value in values.items()}
        return None

    def _get_extra_resource(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        name, path, default = _GET_EXTRA.bind(args, kwargs)
        _check_filled("get_extra_resource", "name", name)
        resources = self._extra.get(name)
        if not resources:
            return default
        if path is MISSING or path is None:
            return resources[0]
        if path == "":
            raise EvalError("get_extra_resource: path must not be empty")
        return walk(resources[0], keys_of(path), default)

    def _get_extra_resources(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        name, path, default = _GET_EXTRAS.bind(args, kwargs)
        _check_filled("get_extra_resources", "name", name)
        resources = self._extra.get(name)
        if resources is None:
            return [] if default is MISSING else default
        if path is MISSING or path is None:
            return list(resources)
        values = [walk(resource, keys_of(path), MISSING) for resource in resources]
        return [value for value in values if value is not MISSING]

    def _set_status(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        path, value = _STATUS.bind(args, kwargs)
        _check_filled("set_xr_status", "path", path)
        if "" in path.split("."):
            raise EvalError(f"set_xr_status: malformed path {quote(path)}")
        names: list[str] = ["status", *path.split(".")]
        obj: Value = self._desired
        for name in names[:-1]:
            if not isinstance(obj.get(name), dict):
                set_index(obj, name, AttrDict())
            obj = obj[name]
        set_index(obj, names[-1], value)
