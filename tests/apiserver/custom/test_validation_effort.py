"""Definitions whose rules take long to compile are not compiled in the event loop."""

from __future__ import annotations

from functools import partial

import pytest

from crossply.apiserver.apiextensions.validation_effort import check_effort
from crossply.apiserver.event_loop_offloading import Background
from crossply.values import Object


def schema_with(rule: str) -> Object:
    texts = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 10}}}
    return {"type": "object", "properties": {"spec": {**texts, "x-kubernetes-validations": [{"rule": rule}]}}}


@pytest.mark.parametrize(
    ("terms", "pieces", "why"),
    [
        (1, 0, "an ordinary rule costs less than a thread"),
        (1500, 1, "more than a second of compiling"),
        (20_000, 1, "refused, but only after it was looked at"),
    ],
)
async def test_long_rules_leave_the_event_loop(terms: int, pieces: int, why: str) -> None:
    schema = schema_with(" || ".join(["self.a == 'b'"] * terms))
    background = Background()
    errors = await background.run(0, partial(check_effort, [schema]))
    background.close()
    assert background.pieces == pieces, why
    assert bool(errors) is (terms == 20_000)
