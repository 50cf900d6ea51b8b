"""A form made of a schema: which controls edit which fields of an object, and what a sent form means.

A control names its field by a JSON pointer of the object. Lists and maps of plain values have a control for
each item and one for the next; deeper or freer structures are edited in the YAML beside the form.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

from crossply.ui.views.schema_fields import type_name
from crossply.ui.views.short_text import cut, one_line
from crossply.values import Object

MAX_CONTROLS = 200
_MAX_DEPTH = 8
_MAX_ITEMS = 20
_LONGEST = 1000
"""Characters of a text that a form can edit."""
_SCALARS = {"string": "text", "integer": "number", "number": "number", "boolean": "checkbox"}

APPEND = "/-"
"""Ends the pointer of the control that adds an item to a list."""


class Control(NamedTuple):
    """One control, or a group of them."""

    sort: str
    """text, number, checkbox, select, group, or yaml for what a form cannot edit."""
    pointer: str
    label: str
    type: str
    value: str = ""
    options: tuple[str, ...] = ()
    required: bool = False
    default: str = ""
    help: str = ""
    controls: tuple[Control, ...] = ()


class UnusableValue(ValueError):
    """A text that was sent is no value of the field's type."""


def form_of(schema: Object, obj: Object) -> tuple[Control, ...]:
    """The controls of the fields of a schema, with the values that an object has."""
    return _Form().group(schema, obj, "", 0)


class _Form:
    def __init__(self) -> None:
        self._left = MAX_CONTROLS

    def group(self, schema: Object, value: Any, pointer: str, depth: int) -> tuple[Control, ...]:
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            return ()
        named = schema.get("required")
        required: list[Any] = named if isinstance(named, list) else []
        values = value if isinstance(value, dict) else {}
        controls = []
        for name in sorted(properties, key=lambda name: (name not in required, name)):
            if self._left <= 0:
                break
            self._left -= 1
            part = properties[name] if isinstance(properties[name], dict) else {}
            place = f"{pointer}/{escape(name)}"
            control = self.control(name, part, values.get(name), place, depth)
            controls.append(control._replace(required=name in required))
        return tuple(controls)

    def control(self, label: str, schema: Object, value: Any, pointer: str, depth: int) -> Control:
        base = Control(
            sort=control_sort(schema),
            pointer=pointer,
            label=cut(label, 80),
            type=type_name(schema),
            default=one_line(schema["default"], 80) if "default" in schema else "",
            help=cut(str(schema.get("description") or ""), 300),
        )
        if base.sort == "group" and depth < _MAX_DEPTH:
            if schema.get("type") == "array":
                return base._replace(controls=self._items(schema, value, pointer, depth))
            return base._replace(controls=self.group(schema, value, pointer, depth + 1))
        if base.sort in ("group", "yaml") or _is_unfit(value):
            return base._replace(sort="yaml", value=one_line(value, 80) if value is not None else "")
        options = tuple(one_line(option) for option in schema.get("enum") or ())
        return base._replace(value=_shown(value), options=options)

    def _items(self, schema: Object, value: Any, pointer: str, depth: int) -> tuple[Control, ...]:
        items = value[:_MAX_ITEMS] if isinstance(value, list) else []
        self._left -= len(items)
        controls = [
            self.control(str(index), schema["items"], item, f"{pointer}/{index}", depth + 1)
            for index, item in enumerate(items)
        ]
        if control_sort(schema["items"]) != "group":
            controls.append(self.control("add", schema["items"], None, f"{pointer}{APPEND}", depth + 1))
        return tuple(controls)


def _is_unfit(value: Any) -> bool:
    """Whether one line cannot edit a value: a long text, one of several lines, or a structure."""
    if isinstance(value, str):
        return len(value) > _LONGEST or "\n" in value
    return isinstance(value, dict | list)


def control_sort(schema: Object) -> str:
    """Which control edits a value of this schema."""
    kind = schema.get("type")
    if isinstance(schema.get("enum"), list):
        return "select"
    if schema.get("x-kubernetes-int-or-string"):
        return "text"
    if kind in _SCALARS:
        return _SCALARS[kind]
    if kind == "array" and isinstance(schema.get("items"), dict):
        return "yaml" if control_sort(schema["items"]) == "yaml" else "group"
    return "group" if kind == "object" and isinstance(schema.get("properties"), dict) else "yaml"


def set_field(obj: Object, schema: Object, pointer: str, text: str) -> Object:
    """The object with the field at a pointer set to what a control sent; an empty text removes the field."""
    segments = [unescape(segment) for segment in pointer.split("/")[1:]]
    if not segments or len(segments) > 2 * _MAX_DEPTH + 2:
        raise UnusableValue("no such field")
    changed = _set(obj, schema, segments, text)
    return changed if isinstance(changed, dict) else {}


def _set(value: Any, schema: Object, segments: list[str], text: str) -> Any:
    if not segments:
        return _parsed(schema, text)
    head, *rest = segments
    if schema.get("type") == "array":
        return _set_item(value if isinstance(value, list) else [], schema, head, rest, text)
    properties = schema.get("properties") or {}
    if head not in properties:
        raise UnusableValue(f"the schema has no field {head}")
    inner = _set((value or {}).get(head) if isinstance(value, dict) else None, properties[head], rest, text)
    changed = {**value} if isinstance(value, dict) else {}
    if inner is None or (inner == {} and head not in changed):
        changed.pop(head, None)
    else:
        changed[head] = inner
    return changed


def _set_item(items: list[Any], schema: Object, head: str, rest: list[str], text: str) -> Any:
    if head == "-":
        added = _set(None, schema["items"], rest, text)
        return items if added is None else [*items, added]
    if not head.isdecimal() or int(head) >= len(items):
        raise UnusableValue(f"there is no item {head}")
    index = int(head)
    changed = _set(items[index], schema["items"], rest, text)
    replacement = [] if changed is None else [changed]
    return [*items[:index], *replacement, *items[index + 1 :]]


def _parsed(schema: Object, text: str) -> Any:
    """The value that a text stands for; None for none."""
    if text == "":
        return None
    kind = schema.get("type")
    try:
        if kind == "integer" or (schema.get("x-kubernetes-int-or-string") and text.isdecimal()):
            return int(text)
        if kind == "number":
            return _number(text)
    except (ValueError, OverflowError):
        raise UnusableValue(f"{cut(text, 40)} is not a number") from None
    if kind == "boolean":
        return text == "true"
    return text


def _number(text: str) -> int | float:
    number = float(text)
    if not isfinite(number):
        raise ValueError
    return int(number) if number.is_integer() else number


def _shown(value: Any) -> str:
    return "" if value is None else one_line(value, _LONGEST)


def escape(name: str) -> str:
    """A field's name as a segment of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def unescape(segment: str) -> str:
    """The field's name of a segment."""
    return segment.replace("~1", "/").replace("~0", "~")
