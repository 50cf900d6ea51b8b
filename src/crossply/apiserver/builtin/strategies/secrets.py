"""Strategies of Secrets and ConfigMaps: keys, sizes, Secret types and immutability."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import forbidden, immutable, invalid, required
from crossply.apiserver.registry.name_validation import too_long_problem
from crossply.schema.field_errors import FieldError, too_long
from crossply.values import Object

MAX_SIZE = 1024 * 1024
_KEY = re.compile(r"[-._a-zA-Z0-9]+")
_KEY_RULE = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
    "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
_FROZEN = "field is immutable when `immutable` is set"
_ACCOUNT = "kubernetes.io/service-account.name"
_REQUIRED_KEYS = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_JSON_TYPES = ("kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson")


def key_problems(key: str) -> list[str]:
    problems = [too_long_problem(253)] if len(key) > 253 else []
    if not _KEY.fullmatch(key):
        problems.append(_KEY_RULE)
    if key == ".":
        problems.append("must not be '.'")
    elif key == "..":
        problems.append("must not be '..'")
    elif key.startswith(".."):
        problems.append("must not start with '..'")
    return problems


def _check_keys(members: Object, path: str) -> list[FieldError]:
    return [invalid(f"{path}[{key}]", key, problem) for key in members for problem in key_problems(key)]


def decoded(value: Any) -> bytes:
    """The bytes of a base64 value."""
    try:
        return base64.b64decode(value)
    except (binascii.Error, TypeError, ValueError):
        return b""


def _decoded_size(members: Object) -> int:
    return sum(len(value) * 3 // 4 - value[-2:].count("=") for value in members.values() if value)


def _check_frozen(new: Object, old: Object, fields: tuple[str, ...]) -> list[FieldError]:
    if not old.get("immutable"):
        return []
    errors = [] if new.get("immutable") else [forbidden("immutable", _FROZEN)]
    errors += [forbidden(key, _FROZEN) for key in fields if (new.get(key) or {}) != (old.get(key) or {})]
    return errors


class SecretStrategy(Strategy):
    def prepare_update(self, new: Object, old: Object) -> None:
        """Keep the type if none is set."""
        if not new.get("type"):
            new["type"] = old.get("type", "")

    def validate(self, obj: Object) -> list[FieldError]:
        data = obj.get("data") or {}
        errors = _check_keys(data, "data")
        if _decoded_size(data) > MAX_SIZE:
            errors.append(too_long("data", MAX_SIZE))
        return errors + _check_type(obj, data)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The type of a Secret is immutable; its data is not, unless `immutable` is set."""
        errors = immutable(new.get("type", ""), old.get("type", ""), "type")
        return errors + _check_frozen(new, old, ("data",)) + self.validate(new)


def _check_type(obj: Object, data: Object) -> list[FieldError]:
    kind = obj.get("type", "")
    if kind == "kubernetes.io/service-account-token":
        annotations = (obj.get("metadata") or {}).get("annotations") or {}
        return [] if annotations.get(_ACCOUNT) else [required(f"metadata.annotations[{_ACCOUNT}]")]
    if kind == "kubernetes.io/basic-auth":
        missing = not {"username", "password"} & set(data)
        return [required("data[username]"), required("data[password]")] if missing else []
    if kind == "kubernetes.io/ssh-auth":
        return [] if data.get("ssh-privatekey") else [required("data[ssh-privatekey]")]
    errors = [required(f"data[{key}]") for key in _REQUIRED_KEYS.get(kind, ()) if key not in data]
    if kind in _JSON_TYPES and not errors:
        errors += _check_json(data, _REQUIRED_KEYS[kind][0])
    return errors


def _check_json(data: Object, key: str) -> list[FieldError]:
    from crossply.values.gojson import JsonError, loads

    hidden = "<secret contents redacted>"
    try:
        value = loads(decoded(data[key]).decode("utf-8", "replace"))
    except JsonError as problem:
        return [invalid(f"data[{key}]", hidden, str(problem))]
    if value is None or isinstance(value, dict):
        return []
    kind = {str: "string", bool: "bool", list: "array"}.get(type(value), "number")
    detail = f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
    return [invalid(f"data[{key}]", hidden, detail)]


class ConfigMapStrategy(Strategy):
    def validate(self, obj: Object) -> list[FieldError]:
        data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
        errors = []
        for key in data:
            errors += _check_keys({key: None}, "data")
            if key in binary:
                errors.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
        errors += _check_keys(binary, "binaryData")
        size = sum(len(value.encode()) for value in data.values()) + _decoded_size(binary)
        if size > MAX_SIZE:
            errors.append(too_long("[]", MAX_SIZE))
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        return _check_frozen(new, old, ("data", "binaryData")) + self.validate(new)
