"""Answering the engine from one function: what `render`, `test` and `plan` need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.compose.asks import Ask, Result, Work
from crossply.errors import CrossplyError


def drive(work: Work[Result], answer: Callable[[Ask], Any]) -> Result:
    """Run the work to its end. An error while answering is thrown into the work, which adds its story."""
    try:
        ask = next(work)
        while True:
            try:
                reply = answer(ask)
            except CrossplyError as problem:
                ask = work.throw(problem)
            else:
                ask = work.send(reply)
    except StopIteration as end:
        result: Result = end.value
        return result
