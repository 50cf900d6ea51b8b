"""Sprig's functions that look at the clock or throw dice: with a clock and dice of our own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

import pytest

from crossply.functions.builtin.go_templating.sprig import clock_and_random as world
from tests.support.functions.sprig import error_of, rendered

NOON = 1_709_208_000_250_000_000
"""The 29th of February 2024, a quarter of a second after noon."""


@pytest.fixture(autouse=True)
def _known_world(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    numbers = count()
    monkeypatch.setattr(world, "clock", lambda: NOON)
    monkeypatch.setattr(world, "random_bytes", lambda size: bytes(next(numbers) % 256 for _ in range(size)))
    return iter(())


@pytest.mark.parametrize(
    ("template", "text", "reason"),
    [
        ("{{ now }}", "2024-02-29 12:00:00.25 +0000 UTC", "in UTC, whatever zone the machine has"),
        ('{{ date "15:04" "no date" }}', "12:00", "what is no date means now"),
        ("{{ htmlDate (list) }}", "2024-02-29", "what is no date means now"),
        ("{{ ago (now) }}", "0s", "no time has passed"),
        ("{{ ago 1709207990 }}", "10s", "rounded to seconds"),
        ('{{ ago (toDate "2006-01-02" "2024-02-28") }}', "36h0m0s", "hours are the largest unit"),
        ('{{ ago (toDate "2006-01-02" "2024-03-01") }}', "-12h0m0s", "a date to come"),
        ('{{ ago (toDate "2006" "0001") }}', "2562047h47m16.854775807s", "as long as a duration can be"),
        ('{{ durationRound (toDate "2006-01-02" "2024-01-01") }}', "1mo", "since a date"),
        ("{{ (now).Unix }} {{ (now).UnixMilli }}", "1709208000 1709208000250", "methods"),
        ('{{ (now | dateModify "-12h1s").Format "15:04:05" }}', "23:59:59", "before midnight"),
    ],
)
def test_the_clock_decides(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason


@pytest.mark.parametrize(
    ("template", "pattern", "reason"),
    [
        ("{{ randAlphaNum 400 }}", r"[A-Za-z0-9]{400}", "letters and digits"),
        ("{{ randAlpha 400 }}", r"[A-Za-z]{400}", "letters"),
        ("{{ randNumeric 400 }}", r"[0-9]{400}", "digits"),
        ("{{ randAscii 400 }}", r"[ -~]{400}", "what prints"),
        ("{{ randAlpha 0 }}{{ randNumeric -5 }}", "", "nothing of nothing"),
        ("{{ randBytes 4 }}", "AAECAw==", "bytes as base64"),
        ("{{ uuidv4 }}", "00010203-0405-4607-8809-0a0b0c0d0e0f", "its version and variant are set"),
        ("{{ randInt -2 1 }}", "-2", "from the minimum on"),
        ('{{ shuffle "héllo" | splitList "" | sortAlpha | join "" }}', "hlloé", "the same characters"),
    ],
)
def test_the_dice_decide(template: str, pattern: str, reason: str) -> None:
    assert re.fullmatch(pattern, rendered(template)), reason


def test_every_integer_of_a_range_is_thrown() -> None:
    thrown = {rendered("{{ randInt 5 8 }}") for _ in range(60)}
    assert thrown == {"5", "6", "7"}


def test_a_text_is_shuffled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "random_bytes", bytes)
    assert rendered('{{ shuffle "abc" }}') == "bca"


def test_aes_decrypts_its_own_output() -> None:
    assert rendered('{{ encryptAES "pw" "some té xt" | decryptAES "pw" }}') == "some té xt"


def test_the_network_is_never_used() -> None:
    assert "no network here" in error_of('{{ getHostByName "localhost" }}')
