"""JSON patch (RFC 6902) as in kube-apiserver: operations in order, on a copy.

Only the containers on the path of a change are copied, each once, so an operation costs what it touches and
not the size of the object. Only `copy` can make an object larger than its patch, so the total size of all
copies is limited.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from crossply.errors import CrossplyError
from crossply.values import Object

MAX_OPERATIONS = 10_000
MAX_COPIED_BYTES = 3 << 20
"""How many bytes of JSON the copies of one patch may add, as in kube-apiserver."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


class JsonPatchError(CrossplyError):
    """A JSON patch is malformed, or does not fit the object."""

    code = "CP-642"


def json_patch(target: Object, operations: list[Any]) -> Any:
    """The target after all operations; neither argument is changed."""
    if len(operations) > MAX_OPERATIONS:
        raise JsonPatchError(
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}"
        )
    document = _Document(target)
    for operation in operations:
        if not isinstance(operation, dict):
            raise JsonPatchError("an operation of a JSON patch must be an object")
        document.perform(operation)
    return document.root


class _Document:
    """The object during the operations."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self._copied_bytes = 0
        self._own: dict[int, Any] = {}
        """The copied containers, which may be changed in place."""

    def perform(self, operation: Object) -> None:
        name, path = operation.get("op"), _pointer(operation, "path")
        if name == "add":
            self._add(path, operation.get("value"))
        elif name == "remove":
            self._remove(path)
        elif name == "replace":
            self._replace(path, operation.get("value"))
        elif name == "move":
            source = _pointer(operation, "from")
            value = self._get(source)
            self._remove(source)
            self._add(path, value)
        elif name == "copy":
            self._add(path, self._copy(self._get(_pointer(operation, "from"))))
        elif name == "test":
            self._test(path, operation.get("value"))
        else:
            raise JsonPatchError(f"Unexpected kind: {name}")

    def _get(self, path: list[str]) -> Any:
        """The value at a path; a missing member of an object is null."""
        value = self.root
        for step in path[:-1]:
            value = _member(value, step, path)
        if not path or not isinstance(value, dict | list):
            raise _missing(path)
        return value.get(path[-1]) if isinstance(value, dict) else value[_index(value, path[-1])]

    def _parent(self, path: list[str]) -> Any:
        """The container of the value at a path, copied for changes."""
        if not path or not isinstance(self.root, dict | list):
            raise _missing(path)
        self.root = parent = self._owned(self.root)
        for step in path[:-1]:
            child = _member(parent, step, path)
            if not isinstance(child, dict | list):
                raise _missing(path)
            key: Any = step if isinstance(parent, dict) else _index(parent, step)
            parent[key] = child = self._owned(child)
            parent = child
        return parent

    def _owned(self, container: Any) -> Any:
        if id(container) in self._own:
            return container
        copied = container.copy()
        self._own[id(copied)] = copied
        return copied

    def _add(self, path: list[str], value: Any) -> None:
        parent, last = self._parent(path), path[-1]
        if isinstance(parent, dict):
            parent[last] = value
        elif last == "-":
            parent.append(value)
        else:
            parent.insert(_index(parent, last, room=1), value)

    def _remove(self, path: list[str]) -> None:
        parent, last = self._parent(path), path[-1]
        if isinstance(parent, list):
            del parent[_index(parent, last)]
        elif last in parent:
            del parent[last]
        else:
            raise _missing(path)

    def _replace(self, path: list[str], value: Any) -> None:
        if not path:
            self.root = value
            return
        parent, last = self._parent(path), path[-1]
        parent[last if isinstance(parent, dict) else _index(parent, last)] = value

    def _copy(self, value: Any) -> Any:
        try:
            data = orjson.dumps(value)
        except TypeError as problem:
            raise JsonPatchError(f"error while performing deep copy: {problem}") from None
        self._copied_bytes += len(data)
        if self._copied_bytes > MAX_COPIED_BYTES:
            raise JsonPatchError(
                "Unable to complete the copy, the accumulated size increase of copy is "
                f"{self._copied_bytes}, exceeding the limit {MAX_COPIED_BYTES}"
            )
        return orjson.loads(data)

    def _test(self, path: list[str], expected: Any) -> None:
        actual = self._get(path) if path else self.root
        if actual != expected:
            raise JsonPatchError(f"testing value {_text(path)} failed")


def _pointer(operation: Object, key: str) -> list[str]:
    text = operation.get(key)
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise JsonPatchError(f"a JSON patch needs a {key} that is a JSON pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _member(container: Any, step: str, path: list[str]) -> Any:
    if isinstance(container, dict) and step in container:
        return container[step]
    if isinstance(container, list):
        return container[_index(container, step)]
    raise _missing(path)


def _index(items: list[Any], step: str, *, room: int = 0) -> int:
    """An index in a list, from its end if negative; `room` allows the index behind the last item."""
    if not _INTEGER.fullmatch(step):
        raise JsonPatchError(f"value was not a proper array index: {step[:64]!r}")
    index, size = int(step), len(items) + room
    if not -size <= index < size:
        raise JsonPatchError(f"Unable to access invalid index: {index}")
    return index + size if index < 0 else index


def _missing(path: list[str]) -> JsonPatchError:
    return JsonPatchError(f"doc is missing path: {_text(path)}")


def _text(path: list[str]) -> str:
    return f'"/{"/".join(path[:16])}"'
