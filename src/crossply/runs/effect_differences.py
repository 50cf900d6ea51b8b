"""What differs between the effects of two runs: effects that only one of them has, and fields that differ."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from crossply.runs.model import EVENT
from crossply.runs.written_effects import WrittenEffect
from crossply.values.differences import MISSING, Difference, differences

_PLACEHOLDER = re.compile(r"redacted-[0-9a-f]{8}")
Key = tuple[str, str, bytes, int]
"""The verb, the target, the text of an event, and for the how-many-th time."""


class EffectDifference(NamedTuple):
    """An effect in which two runs differ."""

    verb: str
    target: str
    fields: tuple[Difference, ...]
    before: Any
    """What the first run wrote; MISSING if it did not."""
    after: Any


def compare_effects(
    before: Iterable[WrittenEffect], after: Iterable[WrittenEffect]
) -> tuple[EffectDifference, ...]:
    """Every effect that is not the same byte by byte, in the order of the runs.

    Only what was redacted in the first run is not compared with what stands in its place in the second.
    """
    first, second = _by_key(before), _by_key(after)
    result = []
    for key in {**first, **second}:
        one, other = first.get(key, MISSING), second.get(key, MISSING)
        if one is MISSING or other is MISSING:
            result.append(EffectDifference(key[0], key[1], tuple(differences(one, other)), one, other))
        elif encoded(one) != encoded(other):
            fields = tuple(field for field in differences(one, other) if not is_redacted(field.before))
            if fields:
                result.append(EffectDifference(key[0], key[1], fields, one, other))
    return tuple(result)


def is_redacted(value: Any) -> bool:
    """Whether a recorded value is a placeholder, which cannot be compared with a secret."""
    if not isinstance(value, str):
        return False
    if _PLACEHOLDER.search(value):
        return True
    try:
        return bool(_PLACEHOLDER.search(b64decode(value, validate=True).decode()))
    except ValueError:
        return False


def encoded(value: Any) -> bytes:
    """JSON with sorted keys."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _by_key(effects: Iterable[WrittenEffect]) -> dict[Key, Any]:
    counts: dict[tuple[str, str, bytes], int] = {}
    keyed: dict[Key, Any] = {}
    for effect in effects:
        base = (effect.verb, effect.target, encoded(effect.content) if effect.verb == EVENT else b"")
        counts[base] = count = counts.get(base, 0) + 1
        keyed[(*base, count)] = effect.content
    return keyed
