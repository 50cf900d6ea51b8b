"""Elements of field paths, written as fieldsV1 writes them.

`f:name` is a member of a map, `k:{"name":"x"}` an item of a list by its keys, `v:"x"` an item of a set, `i:0`
an item by its place. The written form is what field sets are keyed by, so there must be one spelling of each:
Go's compact JSON with sorted keys.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from crossply.apply.schema_types import ListType
from crossply.values import gojson
from crossply.values.bounded_cache import LONGEST, cached_for_short_texts
from crossply.values.goformat import sprintf

# Keys and set items repeat (names of containers, types of conditions); how many spellings are remembered.
_REMEMBERED = 16_384


class BadElement(ValueError):
    """An item of a list has no identity, or a written element cannot be read."""


def item_element(list_type: ListType, item: Any) -> str:
    """Return the element that identifies an item in a set or a list with keys."""
    if list_type.keys:
        return _keyed(list_type, item)
    return f"v:{_text(_set_item(item))}"


def known_elements(list_type: ListType, items: list[Any]) -> list[str]:
    """Return the elements of all items; empty texts for items without identity, which pruning may leave."""
    try:
        return item_elements(list_type, items)
    except BadElement:
        return [_element_or_none(list_type, item) for item in items]


def _element_or_none(list_type: ListType, item: Any) -> str:
    try:
        return item_element(list_type, item)
    except BadElement:
        return ""


def item_elements(list_type: ListType, items: list[Any]) -> list[str]:
    """Return the elements of all items of a list; raise BadElement when one has no identity."""
    keys = list_type.keys
    if len(keys) == 1:
        try:
            key = keys[0]
            return [_single(key, item[key]) for item in items]
        except (KeyError, TypeError):
            pass
    return [item_element(list_type, item) for item in items]


def _single(key: str, value: Any) -> str:
    if value.__class__ is str and len(value) <= LONGEST:
        return _single_text(key, value)
    return f"k:{{{_string(key)}:{_text(value)}}}"


@lru_cache(_REMEMBERED)
def _single_text(key: str, value: str) -> str:
    return f"k:{{{gojson.dumps(key)}:{gojson.dumps(value)}}}"


def _keyed(list_type: ListType, item: Any) -> str:
    if item is None:
        raise BadElement("associative list with keys may not have a null element")
    if item.__class__ is not dict:
        raise BadElement("associative list with keys may not have non-map elements")
    keys = {}
    for key in list_type.keys:
        if key in item:
            keys[key] = item[key]
        elif (default := _default(list_type, key)) is not None:
            keys[key] = default
        # An item without the key is another item than one with any value of it.
    if not keys:
        names = sprintf("%q", [list(list_type.keys)])
        raise BadElement(
            f"associative list with keys has an element that omits all key fields {names}"
            " (and doesn't have default values for any key fields)"
        )
    return "k:{" + ",".join([f"{_string(key)}:{_text(keys[key])}" for key in sorted(keys)]) + "}"


def _default(list_type: ListType, key: str) -> Any:
    element = list_type.element.map
    if element is None:
        why = "associative list may not have non-map types"
        raise BadElement(f"couldn't find default value for {key}: {why}")
    return element.defaults.get(key)


def _set_item(item: Any) -> Any:
    if item.__class__ is dict:
        raise BadElement("associative list without keys has an element that's a map type")
    if item.__class__ is list:
        raise BadElement("not supported: associative list with lists as elements")
    if item is None:
        raise BadElement("associative list without keys has an element that's an explicit null")
    return item


def _text(value: Any) -> str:
    if value.__class__ is str and len(value) <= LONGEST:
        return _string(value)
    return gojson.dumps(value)


@lru_cache(_REMEMBERED)
def _string(value: str) -> str:
    return gojson.dumps(value)


@cached_for_short_texts(_REMEMBERED)
def canonical(element: str) -> str:
    """Return the one spelling of a written element; an empty text for a kind of element not known yet."""
    if len(element) < 2:
        raise BadElement("key must be 2 characters long:")
    kind, content = element[0], element[2:]
    if element[1] != ":":
        raise BadElement(f"missing colon: {element}")
    if kind == "f":
        return element
    if kind in "kv":
        return f"{kind}:{gojson.dumps(_loaded(kind, content))}"
    if kind == "i":
        return f"i:{_index(content)}"
    return ""


def _loaded(kind: str, content: str) -> Any:
    try:
        value = gojson.loads(content)
    except gojson.JsonError as error:
        raise BadElement(str(error)) from None
    if kind == "k" and value.__class__ is not dict:
        raise BadElement(f"expected the keys of an item, got {content}")
    return value


def _index(content: str) -> int:
    try:
        return int(content)
    except ValueError:
        raise BadElement(f"{content} is not an index") from None


def described(element: str) -> str:
    """Return an element as messages show it: `.name`, `[name="x",port=80]`, `[="x"]`, `[0]`."""
    kind, content = element[0], element[2:]
    if kind == "f":
        return f".{content}"
    if kind == "i":
        return f"[{content}]"
    value = gojson.loads(content)
    if kind == "v":
        return f"[={_shown(value)}]"
    return "[" + ",".join([f"{key}={_shown(value[key])}" for key in sorted(value)]) + "]"


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if value.__class__ is str:
        return sprintf("%q", [value])
    if value.__class__ is list:
        return "[" + ",".join([_shown(item) for item in value]) + "]"
    if value.__class__ is dict:
        return "".join([f"{key}={_shown(value[key])}" for key in sorted(value)])
    # A number comes from JSON, where Go reads every one as a float.
    return sprintf("%v", [float(value) if value.__class__ is int else value])


def order(element: str) -> tuple[Any, ...]:
    """Return what sorts elements: fields by name, then keys, then values, then indexes."""
    kind, content = element[0], element[2:]
    if kind == "f":
        return (0, content)
    if kind == "i":
        return (3, int(content))
    value = gojson.loads(content)
    if kind == "k":
        return (1, [(key, _value_order(value[key])) for key in sorted(value)])
    return (2, _value_order(value))


def _value_order(value: Any) -> tuple[Any, ...]:
    if value.__class__ in (int, float):
        return (0, value)
    if value.__class__ is str:
        return (1, value)
    if value.__class__ is bool:
        return (2, value)
    return (3, gojson.dumps(value))
