"""Merging the data of EnvironmentConfigs. Objects merge; other values are replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crossply.errors import CrossplyError
from crossply.functions.builtin.required_resource_selectors import SelectionError
from crossply.functions.reply_limits import check_deadline, check_total, current_limits, size_of
from crossply.values import Object
from crossply.values.field_path import set_value
from crossply.values.goquote import quote

_JSON_KINDS = {bool: "bool", str: "string", int: "number", float: "number", list: "array"}


def merged_data(configs: Sequence[tuple[str, Object]]) -> Object:
    """The merged data of pairs of field path and config; later configs override earlier ones."""
    merged: Object = {}
    limits = current_limits()
    sizes: dict[int, int] = {}
    added, measure_at = 0, limits.reply
    for place, config in configs:
        check_deadline(limits)
        merged = merge(merged, data_at(place, config))
        if id(config) not in sizes:
            sizes[id(config)] = size_of(config.get("data"), limits.reply)
        added += sizes[id(config)]
        if added > measure_at:
            # Configs replace what others have, so there may be less than was added. Measuring is slow.
            size = size_of(merged, limits.reply)
            check_total(size, limits.reply)
            measure_at = added + max(limits.reply - size, limits.reply // 4)
    return merged


def data_at(place: str, config: Object) -> Object:
    """The data of one config, at a field path or at the top."""
    if not place:
        return _data(config)
    placed: Object = {}
    try:
        set_value(placed, place, config.get("data"))
    except CrossplyError:  # an invalid path, or a number that JSON cannot encode
        name = config_name(config)
        raise SelectionError(
            f"cannot get data from environment config {name} into path {quote(place)}"
        ) from None
    return placed


def merge(base: Object, over: Object) -> Object:
    """A new object with the fields of both; objects merge recursively."""
    # No recursion: users control how deep the data nests.
    merged = dict(base)
    pending = [(merged, over)]
    while pending:
        target, source = pending.pop()
        for key, value in source.items():
            existing = target.get(key)
            if isinstance(value, dict) and isinstance(existing, dict):
                target[key] = both = dict(existing)
                pending.append((both, value))
            else:
                target[key] = value
    return merged


def _data(config: Object) -> Object:
    try:
        data: Any = config["data"]
    except KeyError:
        raise _no_data(config, "data: no such field") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        kind = _JSON_KINDS.get(type(data), "value")
        problem = f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
        raise _no_data(config, f"cannot unmarshal value from JSON: {problem}")
    return data


def _no_data(config: Object, reason: str) -> SelectionError:
    return SelectionError(f"cannot get data from environment config {quote(config_name(config))}: {reason}")


def config_name(config: Object) -> str:
    """The name of a config; "" without one."""
    metadata = config.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""
