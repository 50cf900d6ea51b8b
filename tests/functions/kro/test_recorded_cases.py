"""function-kro answers each case as the kro library does, which function-kro embeds (`record.py`)."""

from __future__ import annotations

import json
import pathlib
from functools import cache
from typing import Any

import pytest

from tests.support.kro.cases import kinds, load, ours

RECORDED = pathlib.Path(__file__).parent / "recorded"
CASES = load()


@cache
def recorded(file: str) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((RECORDED / f"{file}.json").read_text())
    return answers


@pytest.mark.parametrize("name", CASES)
def test_kro_answers_as_recorded(name: str) -> None:
    file, _, title = name.partition(": ")
    assert ours(CASES[name], kinds()) == recorded(file)[title]


def test_kro_every_recorded_case_is_compared() -> None:
    names = {f"{file.stem}: {title}" for file in RECORDED.glob("*.json") for title in recorded(file.stem)}
    assert names == set(CASES)
