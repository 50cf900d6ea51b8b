"""What the tests of `crossply xpkg` share: running it, and what it said last."""

from __future__ import annotations

from typing import Protocol


class Run(Protocol):
    def __call__(self, *words: str) -> tuple[int, str, str]: ...


def last(err: str) -> str:
    return err.strip().splitlines()[-1].removeprefix("crossply: error: ")
