"""JSON merge patches (RFC 7386): null removes a field, objects merge, everything else replaces."""

from __future__ import annotations

from typing import Any

from crossply.values import Object


def merge_patch(target: Any, patch: Any) -> Any:
    """Return the target with the patch merged in."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def merge_patch_to(desired: Object, live: Object) -> Object:
    """Return the patch that gives a live object the desired fields; fields that only it has stay."""
    patch: Object = {}
    for key, value in desired.items():
        current = live.get(key)
        if isinstance(value, dict) and isinstance(current, dict):
            inner = merge_patch_to(value, current)
            if inner:
                patch[key] = inner
        elif value != current:
            patch[key] = value
    return patch
