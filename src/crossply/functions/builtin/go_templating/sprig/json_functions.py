"""toJson, fromJson and variants. Decoded numbers are float64, as in Go."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import Structure, go_type, is_nil
from crossply.functions.builtin.go_templating.engine.limits import MAX_ITEMS, LimitExceeded, check_size
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig.strings import NilStrings
from crossply.values.gojson import JsonError, Members, dumps, loads

_RFC3339 = "2006-01-02T15:04:05.999999999Z07:00"
_TOO_LARGE = "value is too large for JSON"


def from_json(text: str) -> Any:
    """Read JSON; nil when it is none."""
    try:
        return must_from_json(text)
    except FunctionFailed:
        return None


def must_from_json(text: str) -> Any:
    """Read JSON."""
    try:
        return _with_floats(loads(_with_signed_zeros(text)))
    except JsonError as error:
        raise FunctionFailed(str(error)) from None


def _with_signed_zeros(text: str) -> str:
    """Write -0 as the float that it is to Go; as an integer it would lose its sign."""
    import re

    if "-0" not in text:
        return text
    return re.sub(r'"(?:[^"\\]|\\.)*"|-0(?![0-9.eE])', lambda m: "-0.0" if m[0] == "-0" else m[0], text)


def _with_floats(value: Any) -> Any:
    root = [value]
    pending: list[Any] = [root]
    while pending:
        container = pending.pop()
        places = container.items() if isinstance(container, dict) else enumerate(container)
        for place, item in list(places):
            if item.__class__ is int:
                container[place] = float(item)
            elif isinstance(item, dict | list):
                pending.append(item)
    return root[0]


def to_json(value: Any) -> str:
    """Write JSON; an empty text when the value has none."""
    try:
        return must_to_json(value)
    except FunctionFailed:
        return ""


def must_to_json(value: Any) -> str:
    """Write JSON."""
    try:
        text = dumps(_Conversion().plain(value))
    except JsonError as error:
        raise FunctionFailed(str(error)) from None
    except RecursionError:
        raise LimitExceeded(_TOO_LARGE) from None
    check_size(len(text))
    return text


def to_raw_json(value: Any) -> str:
    """Write JSON in which <, > and & stay as they are."""
    import re

    meanings = {r"\u003c": "<", r"\u003e": ">", r"\u0026": "&"}
    return re.sub(r"\\(?:\\|u003c|u003e|u0026)", lambda m: meanings.get(m[0], m[0]), must_to_json(value))


def to_pretty_json(value: Any) -> str:
    """Write JSON over many lines; an empty text when the value has none."""
    try:
        return must_to_pretty_json(value)
    except FunctionFailed:
        return ""


def must_to_pretty_json(value: Any) -> str:
    """Write JSON over many lines."""
    import re

    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^{}\[\],:"]+', must_to_json(value))
    pieces: list[str] = []
    depth = 0
    length = 0
    for index, token in enumerate(tokens):
        opened = index > 0 and tokens[index - 1] in ("{", "[")
        if token in ("}", "]"):
            depth -= 1
            pieces.append(token if opened else _line(depth) + token)
        else:
            pieces.append(_line(depth) + token if opened else token)
        if token in ("{", "["):
            depth += 1
        elif token == ",":
            pieces.append(_line(depth))
        elif token == ":":
            pieces.append(" ")
        length += len(token) + 2 * depth
        check_size(length)
    return "".join(pieces)


def _line(depth: int) -> str:
    return "\n" + "  " * depth


class _Conversion:
    """Makes a value of what JSON has; it counts the values, and knows which containers it is in."""

    __slots__ = ("_left", "_length", "_open")

    def __init__(self) -> None:
        self._left = MAX_ITEMS
        self._length = 0
        self._open: set[int] = set()

    def plain(self, value: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise LimitExceeded(_TOO_LARGE)
        if isinstance(value, str):
            self._length += len(value)
            check_size(self._length)
            return value
        if is_nil(value) or isinstance(value, NilStrings):
            return None
        if isinstance(value, dict | list):
            return self._container(value)
        return self.plain(_content(value)) if isinstance(value, Structure) else _scalar(value)

    def _container(self, value: Any) -> Any:
        if id(value) in self._open:
            raise FunctionFailed(f"json: unsupported value: encountered a cycle via {go_type(value)}")
        self._open.add(id(value))
        if isinstance(value, dict):
            kind = Members if isinstance(value, Members) else dict
            copied: Any = kind((key, self.plain(item)) for key, item in value.items())
        else:
            copied = [self.plain(item) for item in value]
        self._open.discard(id(value))
        return copied


def _content(value: Structure) -> Any:
    from crossply.functions.builtin.go_templating.sprig.date_layouts import shown
    from crossply.functions.builtin.go_templating.sprig.go_time import Time
    from crossply.values.semver import Version

    if value.json is not None:
        return value.json
    if isinstance(value.value, Time):
        return shown(value.value, _RFC3339)
    return str(value.value) if isinstance(value.value, Version) else dict(value.fields)


def _scalar(value: Any) -> Any:
    if isinstance(value, bytes):
        from base64 import b64encode

        return b64encode(value).decode()
    if isinstance(value, complex):
        raise FunctionFailed("json: unsupported type: complex128")
    return value
