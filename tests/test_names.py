"""Names of the product are words of the field."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "crossply"
REPLACEMENTS = {
    "told": "message",
    "wish": "desired",
    "wishes": "options",
    "verdict": "result",
    "shelf": "cache",
    "complaint": "error",
    "woken": "notified",
    "wake": "enqueue",
    "each": "what the loop goes over",
    "given": "values, or the name of the argument",
    "made": "what was created",
    "wanted": "desired, expected or requested",
    "said": "message",
    "kept": "cached, recorded or preserved",
    "held": "blocked, or the holder",
    "asked": "requirements or requested",
    "moment": "time",
    "story": "history",
    "taken": "in use or bound",
    "seen": "known or observed",
    "way": "endpoint or runtime",
    "follow": "watch",
    "what": "what the value describes",
    "who": "user or owner",
}
"""Words that nobody searches for, each with what to say instead."""
STANDARD_PHRASES = re.compile(r"(?i)not_?found|follow_symlinks|connection_made|three_way")
"""Phrases of the field and of libraries that have such a word in them."""


def names(file: Path) -> Iterator[tuple[str, int]]:
    yield file.stem, 1
    for token in tokenize.generate_tokens(io.StringIO(file.read_text()).readline):
        if token.type == tokenize.NAME:
            yield token.string, token.start[0]


def words_of(name: str) -> list[str]:
    return [
        word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", STANDARD_PHRASES.sub("", name))
    ]


def test_names_are_words_of_the_field() -> None:
    problems = [
        f"{file.relative_to(SOURCE)}:{line}: {name}: say {REPLACEMENTS[word]} instead of {word}"
        for file in sorted(SOURCE.rglob("*.py"))
        if "proto" not in file.relative_to(SOURCE).parts
        for name, line in names(file)
        for word in words_of(name)
        if word in REPLACEMENTS
    ]
    assert not problems, "\n".join(problems)
