"""Lay a configuration over an object: its leaves win, nothing is removed.

What the configuration does not change is kept as it is, the very same Python object, so that an apply that
changes nothing returns the object it was given.
"""

from __future__ import annotations

from operator import is_
from typing import Any

from crossply.apply.compare import same
from crossply.apply.path_elements import item_elements
from crossply.apply.schema_types import LIST, MAP, ListType, MapType, Type, first_form


class Merge:
    """One merge. `hollow` is true if the configuration has a container without members."""

    __slots__ = ("hollow",)

    def __init__(self) -> None:
        self.hollow = False

    def values(self, live: Any, config: Any, type_: Type) -> Any:
        """Return a checked live value with a checked configuration laid over it."""
        kind = config.__class__
        if kind is dict and type_.map is not None:
            if live.__class__ is dict and live and not type_.map.atomic:
                return self._members(live, config, type_.map) if config else self._claimed(live)
        elif kind is list and type_.list is not None:
            if live.__class__ is list and live and not type_.list.atomic:
                return self._items(live, config, type_.list) if config else self._claimed(live)
        elif config is None and _survives_null(live, type_):
            return self._claimed(live)
        return live if same(live, config) else config

    def _claimed(self, live: Any) -> Any:
        self.hollow = True
        return live

    def _members(self, live: dict[str, Any], config: dict[str, Any], map_type: MapType) -> dict[str, Any]:
        result = live
        fields, element = map_type.fields, map_type.element
        for name, desired in config.items():
            if name in live:
                current = live[name]
                kind = desired.__class__
                if (kind is str or kind is int) and kind is current.__class__ and desired == current:
                    continue
                type_ = fields.get(name, element)
                merged = self.values(current, desired, type_) if type_ is not None else desired
                if merged is current:
                    continue
            else:
                merged = desired
            if result is live:
                result = live.copy()
            result[name] = merged
        return result

    def _items(self, live: list[Any], config: list[Any], list_type: ListType) -> list[Any]:
        live_elements, config_elements = item_elements(list_type, live), item_elements(list_type, config)
        type_ = list_type.element
        if live_elements == config_elements:
            merged = [self.values(old, new, type_) for old, new in zip(live, config, strict=True)]
        else:
            merged_items = self._merged_items(
                dict(zip(config_elements, config, strict=True)), live, live_elements, type_
            )
            merged = _interleaved(live, live_elements, merged_items)
        return live if _identical(live, merged) else merged

    def _merged_items(
        self, config: dict[str, Any], live: list[Any], elements: list[str], type_: Type
    ) -> dict[str, Any]:
        """Return the items of a configuration, each merged with the live one of the same identity."""
        first: dict[str, Any] = {}
        for element, item in zip(elements, live, strict=True):
            # An item that is there several times is not merged with the new one.
            first[element] = None if element in first else item
        return {
            element: self.values(first[element], item, type_) if element in first else item
            for element, item in config.items()
        }


def _survives_null(live: Any, type_: Type) -> bool:
    """Return whether a container keeps its members though the configuration has null."""
    form = first_form(type_)
    if form == MAP and type_.map is not None:
        return live.__class__ is dict and bool(live) and not type_.map.atomic
    if form == LIST and type_.list is not None:
        return live.__class__ is list and bool(live) and not type_.list.atomic
    return False


def _identical(first: list[Any], second: list[Any]) -> bool:
    return len(first) == len(second) and all(map(is_, first, second))


def _interleaved(live: list[Any], elements: list[str], config: dict[str, Any]) -> list[Any]:
    """Merge two lists of identified items into one order.

    Items that only one side has keep their places among their neighbours; for items that both have, the
    configuration's order wins.
    """
    result: list[Any] = []
    merged: set[str] = set()
    desired = list(config)
    present = set(elements)
    shared = [element for element in desired if element in present]
    left = right = next_shared = 0
    while left < len(elements) or right < len(desired):
        if left < len(elements):
            element = elements[left]
            if element not in config:
                result.append(live[left])
                left += 1
                continue
            next_element = shared[next_shared] if next_shared < len(shared) else element
            if right == len(desired) or (element != desired[right] and element != next_element):
                # Merged already, or the configuration wants another one that both have first.
                left += 1
                continue
            if element == desired[right] or element in merged:
                left += 1
        element = desired[right]
        result.append(config[element])
        merged.add(element)
        right += 1
        if next_shared < len(shared) and shared[next_shared] == element:
            next_shared += 1
    return result
