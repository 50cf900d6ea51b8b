"""Expressions cannot take more memory than their share, however they make it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from crossply.schema.cel_object_validation import RuleChecker
from tests.support.memory_limit import run_within

LIMIT = 2 << 30
LONG = "b" * 1000
STOPPED = "actual cost limit exceeded"


def errors(rule: str, value: Any) -> list[str]:
    items = {"type": "array", "items": {"type": "string"}}
    schema = {"type": "object", "properties": {"s": {"type": "string"}, "l": items}}
    ruled = {**schema, "x-kubernetes-validations": [{"rule": rule}]}
    return [str(error) for error in RuleChecker(ruled).check(value)]


def _bound(count: int, step: str) -> str:
    """An expression that binds a text to `step` of the one before, so many times."""
    names = [f"v{index}" for index in range(count + 1)]
    steps = (f"cel.bind({name}, {step.format(before)}, " for before, name in itertools.pairwise(names))
    return f"cel.bind(v0, self.s, {''.join(steps)}{names[-1]}.size() > 0)" + ")" * count


GROWING = {
    "replace": f"self.s.replace('a', '{LONG}').replace('b', '{LONG}').replace('b', '{LONG}')"
    f".replace('b', '{LONG}').size() > 0",
    "sums": _bound(8, " + ".join(["{0}"] * 8)),
    "join": _bound(8, f"[{', '.join(['{0}'] * 8)}].join(',')"),
    "format": _bound(8, f"'{'%s' * 8}'.format([{', '.join(['{0}'] * 8)}])"),
    "map": "[self.s]" + f".map(x, {' + '.join(['x'] * 8)})" * 8 + "[0].size() > 0",
    "loop": "self.l.map(x, self.l.map(y, self.l.join(self.s))).size() > 0",
}


@pytest.mark.parametrize("name", GROWING)
def test_a_rule_whose_values_grow_is_stopped_within_a_limit_of_memory(name: str) -> None:
    program = (
        "from tests.schema.test_cel_limits import GROWING, errors\n"
        f"print(errors(GROWING[{name!r}], {{'s': 'a' * 100_000, 'l': ['a' * 1000] * 90}}))\n"
        "print(most_memory() >> 20)"
    )
    stopped, megabytes = run_within(LIMIT, program).splitlines()
    assert STOPPED in stopped
    assert int(megabytes) < 800


@pytest.mark.parametrize(
    "rule",
    [
        "self.l.all(x, self.l.exists_one(y, y == x))",
        "self.l.map(x, self.l.map(y, y + x).join('')).all(t, t.size() > 0)",
        "self.s.replace('a', 'bb').replace('b', 'cc').size() == 4 * self.s.size()",
        "'%s-%s'.format([self.s, self.s]).size() == 2 * self.s.size() + 1",
    ],
)
@pytest.mark.parametrize("length", [10, 20_000])
def test_a_rule_that_stays_within_its_limits_is_evaluated_wherever_that_happens(
    rule: str, length: int
) -> None:
    value = {"s": "a" * length, "l": [f"{index:03}" for index in range(30)]}
    assert errors(rule, value) == []
    assert len(errors(f"!({rule})", value)) == 1


def test_after_a_rule_was_stopped_others_are_evaluated() -> None:
    assert STOPPED in errors(GROWING["sums"], {"s": "a" * 100_000})[0]
    assert errors("self.l.all(x, self.l.exists(y, y == x))", {"s": "", "l": ["a" * 60_000] * 60}) == []
