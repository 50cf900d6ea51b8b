"""What differs between the effects of two runs: effects that only one of them has, and fields that differ."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from crossply.runs.comparable_writes import WrittenEffect
from crossply.runs.model import EVENT
from crossply.runs.redaction import PLACEHOLDER
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
    """Every effect that is not the same byte by byte, in the order of the runs.

    Where one is, the last effect on each object counts: a run that creates something runs its pipeline twice,
    and would list each difference twice. What was redacted in the first run is not compared.
    """
    before, after = tuple(before), tuple(after)
    differing = _compare(before, after)
    return (_compare(_last(before), _last(after)) or differing) if differing else ()


def _last(effects: Iterable[WrittenEffect]) -> list[WrittenEffect]:
    """The last effect of each kind on each object; events are all kept."""
    last: dict[Any, WrittenEffect] = {}
    for number, effect in enumerate(effects):
        key = number if effect.verb == EVENT else (effect.verb, effect.target)
        last.pop(key, None)
        last[key] = effect
    return list(last.values())


def _compare(before: Iterable[WrittenEffect], after: Iterable[WrittenEffect]) -> tuple[EffectDifference, ...]:
    first, second = _by_key(before), _by_key(after)
    result = []
    for key in {**first, **second}:
        one, other = first.get(key, MISSING), second.get(key, MISSING)
        if one is MISSING or other is MISSING:
            result.append(EffectDifference(key[0], key[1], tuple(differences(one, other)), one, other))
        elif encoded(one) != encoded(other):
            fields = tuple(field for field in differences(one, other) if not placeholder_in(field.before))
            if fields:
                result.append(EffectDifference(key[0], key[1], fields, one, other))
    return tuple(result)


def placeholder_in(value: Any) -> str:
    """The placeholder of a secret in a recorded text, also one in base64; empty for none."""
    if not isinstance(value, str):
        return ""
    match = PLACEHOLDER.search(value)
    if match is None:
        try:
            match = PLACEHOLDER.fullmatch(b64decode(value, validate=True).decode())
        except ValueError:
            return ""
    return "" if match is None else match.group()


def encoded(value: Any) -> bytes:
    """JSON with sorted keys; what is missing is null."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=lambda _: None)


def _by_key(effects: Iterable[WrittenEffect]) -> dict[Key, Any]:
    counts: dict[tuple[str, str, bytes], int] = {}
    keyed: dict[Key, Any] = {}
    for effect in effects:
        base = (effect.verb, effect.target, encoded(effect.content) if effect.verb == EVENT else b"")
        counts[base] = count = counts.get(base, 0) + 1
        keyed[(*base, count)] = effect.content
    return keyed
