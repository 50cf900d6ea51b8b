"""What an autoscaler aims at and where it is, in one cell: `cpu: 20%/80%`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crossply.values import Object

_SHOWN = 2
_SOURCES = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def targets_text(specs: Sequence[Object], statuses: Sequence[Object]) -> str:
    """The targets of an autoscaler."""
    if not specs:
        return "<none>"
    texts = [
        _target(spec, statuses[index] if index < len(statuses) else {}) for index, spec in enumerate(specs)
    ]
    shown = ", ".join(texts[:_SHOWN])
    return f"{shown} + {len(texts) - _SHOWN} more..." if len(texts) > _SHOWN else shown


def _target(spec: Object, status: Object) -> str:
    source = _SOURCES.get(spec.get("type", ""))
    if source is None:
        return "<unknown type>"
    aim = (spec.get(source) or {}).get("target") or {}
    now = (status.get(source) or {}).get("current") or {}
    if source in ("resource", "containerResource"):
        return f"{(spec.get(source) or {}).get('name', '')}: {_resource(aim, now)}"
    if source == "pods":
        return f"{now.get('averageValue', '<unknown>')}/{aim.get('averageValue', '0')}"
    if "averageValue" in aim:
        return f"{now.get('averageValue', '<unknown>')}/{aim['averageValue']} (avg)"
    return f"{now.get('value', '<unknown>')}/{aim.get('value', '0')}"


def _resource(aim: Object, now: Object) -> str:
    if "averageValue" in aim:
        return f"{now.get('averageValue', '<unknown>')}/{aim['averageValue']}"
    current = _percent(now.get("averageUtilization"), "<unknown>")
    return f"{current}/{_percent(aim.get('averageUtilization'), '<auto>')}"


def _percent(value: Any, absent: str) -> str:
    return absent if value is None else f"{value}%"
