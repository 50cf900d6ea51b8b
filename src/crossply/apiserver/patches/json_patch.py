"""JSON patch (RFC 6902): a list of operations, made one after the other on a copy."""

from __future__ import annotations

from typing import Any

from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.deepcopy import deepcopy

MAX_OPERATIONS = 10_000


class JsonPatchError(CrossplyError):
    """A JSON patch is malformed, or does not fit the object."""

    code = "CP-642"


def json_patch(target: Object, operations: list[Any]) -> Any:
    """The target after all operations."""
    if len(operations) > MAX_OPERATIONS:
        raise JsonPatchError(
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}"
        )
    root: list[Any] = [deepcopy(target)]
    for operation in operations:
        if not isinstance(operation, dict):
            raise JsonPatchError("an operation of a JSON patch must be an object")
        _perform(root, operation)
    return root[0]


def _perform(root: list[Any], operation: Object) -> None:
    name, path = operation.get("op"), _pointer(operation, "path")
    if name == "add":
        _add(root, path, deepcopy(_value(operation)))
    elif name == "remove":
        _remove(root, path)
    elif name == "replace":
        _read(root, path)
        _remove(root, path)
        _add(root, path, deepcopy(_value(operation)))
    elif name in ("move", "copy"):
        source = _pointer(operation, "from")
        value = deepcopy(_read(root, source))
        if name == "move":
            _remove(root, source)
        _add(root, path, value)
    elif name == "test":
        if _read_or_none(root, path) != operation.get("value"):
            raise JsonPatchError(f"testing value {operation['path']} failed")
    else:
        raise JsonPatchError(f"Unexpected kind: {name}")


def _value(operation: Object) -> Any:
    if "value" not in operation:
        raise JsonPatchError(f"{operation['op']} operation needs a value: missing value")
    return operation["value"]


def _pointer(operation: Object, key: str) -> list[str | int]:
    """The steps from the list that holds the root, so that the root itself can be replaced."""
    text = operation.get(key)
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise JsonPatchError(f"a JSON patch needs a {key} that is a JSON pointer")
    steps: list[str | int] = [0]
    steps += [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]
    return steps


def _parent(root: list[Any], path: list[str | int]) -> Any:
    return _read(root, path[:-1]) if len(path) > 1 else root


def _read(root: list[Any], path: list[str | int]) -> Any:
    value: Any = root
    for step in path:
        value = _member(value, step, path)
    return value


def _read_or_none(root: list[Any], path: list[str | int]) -> Any:
    try:
        return _read(root, path)
    except JsonPatchError:
        return None


def _member(value: Any, step: str | int, path: list[str | int]) -> Any:
    if isinstance(value, dict) and step in value:
        return value[step]
    if isinstance(value, list):
        return value[_index(value, step, path, past_end=False)]
    raise JsonPatchError(f"doc is missing path: {_text(path)}: missing value")


def _index(items: list[Any], step: str | int, path: list[str | int], *, past_end: bool) -> int:
    if step == "-" and past_end:
        return len(items)
    text = str(step)
    if not text.isdigit():
        raise JsonPatchError(f"value was not a proper array index: {text!r}: strconv.Atoi: invalid syntax")
    index = int(text)
    if index >= len(items) + past_end:
        raise JsonPatchError(f"Unable to access invalid index: {index}: invalid index referenced")
    return index


def _add(root: list[Any], path: list[str | int], value: Any) -> None:
    parent, last = _parent(root, path), path[-1]
    if parent is root:
        root[0] = value
    elif isinstance(parent, dict):
        parent[str(last)] = value
    elif isinstance(parent, list):
        parent.insert(_index(parent, last, path, past_end=True), value)
    else:
        raise JsonPatchError(
            f"add operation does not apply: doc is missing path: {_text(path)}: missing value"
        )


def _remove(root: list[Any], path: list[str | int]) -> None:
    parent, last = _parent(root, path), path[-1]
    if parent is root:
        root[0] = None
    elif isinstance(parent, dict) and last in parent:
        del parent[last]
    elif isinstance(parent, list):
        del parent[_index(parent, last, path, past_end=False)]
    else:
        raise JsonPatchError(
            f"remove operation does not apply: doc is missing path: {_text(path)}: missing value"
        )


def _missing(operation: str, path: list[str | int]) -> JsonPatchError:
    return JsonPatchError(
        f"{operation} operation does not apply: doc is missing path: {_text(path)}: missing value"
    )


def _text(path: list[str | int]) -> str:
    return '"/' + "/".join(map(str, path[1:])) + '"'
