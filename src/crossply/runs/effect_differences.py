"""What differs between the effects of two runs: effects that only one of them has, and fields that differ."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from crossply.runs.model import EVENT
from crossply.runs.written_effects import WrittenEffect
from crossply.values.differences import MISSING, Difference, differences

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
    """Every effect that is not the same byte by byte, in the order of the runs."""
    first, second = _by_key(before), _by_key(after)
    result = []
    for key in {**first, **second}:
        one, other = first.get(key, MISSING), second.get(key, MISSING)
        if one is MISSING or other is MISSING or encoded(one) != encoded(other):
            result.append(EffectDifference(key[0], key[1], tuple(differences(one, other)), one, other))
    return tuple(result)


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
