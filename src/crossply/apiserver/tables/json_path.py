"""Kubernetes' JSONPath: `.spec.size`, `.items[0].name`, `.conditions[?(@.type=='Ready')].status`.

A path is parsed once into steps; each step maps a list of values to a list of values. What does not fit (an
index beyond the end, a filter on something that is not a list) yields nothing, and so does what would take
too long.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable
from typing import Any

from crossply.errors import CrossplyError

_LONGEST = 4096
_DEEPEST = 16
_MOST_RESULTS = 10_000
_MOST_VISITS = 100_000
_TERMINATORS = frozenset(" \t\r\n.,[]$@{}")
_KEY = re.compile(r"'([^']*)'")
_SLICE = re.compile(r"(-?\d*)(:-?\d*)?(:-?\d*)?")
_COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+)", re.S)
_NUMBER = re.compile(r"[+-]?[\d.]+")
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


class JsonPathError(CrossplyError):
    """A JSONPath that cannot be parsed."""

    code = "CP-640"


class _Nothing(Exception):
    """A step got a value that it does not support."""


class _Exhausted(Exception):
    """The budget is used up."""


class PathBudget:
    """How many values may be looked at: `..` and `[*]` one after the other multiply them."""

    def __init__(self, visits: int = _MOST_VISITS) -> None:
        self._left = visits

    def charge(self, visits: int) -> None:
        """Take so many values from the budget, for what was done already."""
        self._left -= visits

    def spend(self, visits: int) -> None:
        """Take so many values from the budget before they are looked at."""
        self.charge(visits)
        if self._left < 0:
            raise _Exhausted


Step = Callable[[list[Any], PathBudget], list[Any]]


@functools.lru_cache(maxsize=2048)
def parse(path: str) -> tuple[Step, ...]:
    """The steps of a path; raises JsonPathError."""
    if len(path) > _LONGEST:
        raise JsonPathError("the path is too long")
    return _Parser(path, 0).steps()


def find(value: Any, steps: tuple[Step, ...], budget: PathBudget | None = None) -> list[Any]:
    """The values at a path; none where a budget, that many paths can share, is used up."""
    try:
        return _find(value, steps, budget or PathBudget())
    except _Exhausted:
        return []


def _find(value: Any, steps: tuple[Step, ...], budget: PathBudget) -> list[Any]:
    values = [value]
    budget.spend(1)
    try:
        for step in steps:
            values = step(values, budget)
            if len(values) > _MOST_RESULTS:
                return []
    except _Nothing:
        return []
    return values


def shown(value: Any) -> str:
    """A value as text; objects and lists as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return "<no value>"
    if isinstance(value, dict | list):
        from crossply.values.gojson import dumps

        return dumps(value)
    from crossply.values.goformat import sprintf

    return sprintf("%v", [value])


class _Parser:
    """Parses a path from left to right."""

    def __init__(self, text: str, depth: int) -> None:
        if depth > _DEEPEST:
            raise JsonPathError("the path nests too deep")
        self._text = text
        self._at = 0
        self._depth = depth

    def steps(self) -> tuple[Step, ...]:
        steps: list[Step] = []
        while self._at < len(self._text):
            step = self._step()
            if step is not None:
                steps.append(step)
        return tuple(steps)

    def _step(self) -> Step | None:
        rest = self._text[self._at :]
        char = rest[0]
        if rest.startswith("[?("):
            return self._filter()
        if rest.startswith(".."):
            self._at += 2
            next_char = self._text[self._at : self._at + 1]
            if next_char and next_char not in _TERMINATORS:
                field = self._field()
                return lambda values, budget: field(_descend(values, budget), budget)
            return _descend
        if char in " @$":
            self._at += 1
            return None
        if char == "[":
            return self._array()
        if char in "\"'":
            return self._quoted(char)
        if char == ".":
            self._at += 1
            return self._field()
        if char in "+-" or char.isdigit():
            return self._number()
        return self._word(char)

    def _field(self) -> Step:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in _TERMINATORS:
            self._at += 2 if self._text[self._at] == "\\" else 1
        name = self._text[start : self._at]
        if name == "*":
            return _members
        return functools.partial(_field, name.replace("\\", ""))

    def _array(self) -> Step:
        end = self._text.find("]", self._at)
        if end < 0:
            raise JsonPathError("unterminated array")
        inside = self._text[self._at + 1 : end]
        self._at = end + 1
        inside = ":" if inside == "*" else inside
        parts = inside.split(",")
        if len(parts) > 1:
            return functools.partial(_union, [self._below(f"[{part.strip()}]") for part in parts])
        key = _KEY.fullmatch(inside)
        if key:
            return functools.partial(_through, self._below(f".{key.group(1)}"))
        return _slice(inside)

    def _filter(self) -> Step:
        start = self._at + 3
        end = self._filter_end(start)
        condition = self._text[start:end]
        self._at = end + 2
        match = _COMPARISON.fullmatch(condition)
        if match is None:
            return functools.partial(_filter, self._below(condition), "exists", ())
        left, sign, right = match.groups()
        if sign not in _COMPARE:
            raise JsonPathError(f"unrecognized filter operator {sign}")
        return functools.partial(_filter, self._below(left), sign, self._below(right))

    def _filter_end(self, at: int) -> int:
        """The end of the condition: the first `)` outside of quotes."""
        quote = ""
        for index in range(at, len(self._text)):
            char = self._text[index]
            if quote:
                if char == quote and self._text[index - 1] != "\\":
                    quote = ""
            elif char in "\"'":
                quote = char
            elif char == ")":
                if self._text[index + 1 : index + 2] != "]":
                    raise JsonPathError("unclosed array expect ]")
                return index
        raise JsonPathError("unterminated filter")

    def _quoted(self, quote: str) -> Step:
        end = self._at + 1
        while end < len(self._text) and (self._text[end] != quote or self._text[end - 1] == "\\"):
            end += 1
        if end >= len(self._text):
            raise JsonPathError("unterminated quoted string")
        text = self._text[self._at + 1 : end].replace(f"\\{quote}", quote)
        self._at = end + 1
        return lambda values, budget: [text]

    def _number(self) -> Step:
        match = _NUMBER.match(self._text, self._at)
        try:
            text = match.group() if match else self._text[self._at]
            number = float(text) if "." in text else int(text)
        except ValueError:
            raise JsonPathError(f"cannot parse number {self._text[self._at :]}") from None
        self._at += len(text)
        return lambda values, budget: [number] * len(values)

    def _word(self, char: str) -> Step:
        if char != "_" and not char.isalpha():
            raise JsonPathError(f"unrecognized character in action: {char!r}")
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in _TERMINATORS:
            self._at += 1
        word = self._text[start : self._at]
        if word in ("true", "false"):
            return lambda values, budget: [word == "true"] * len(values)
        return _unknown_word

    def _below(self, text: str) -> tuple[Step, ...]:
        return _Parser(text, self._depth + 1).steps()


def _unknown_word(values: list[Any], budget: PathBudget) -> list[Any]:
    raise _Nothing


def _field(name: str, values: list[Any], budget: PathBudget) -> list[Any]:
    budget.spend(len(values))
    return [value[name] for value in values if isinstance(value, dict) and name in value]


def _members(values: list[Any], budget: PathBudget) -> list[Any]:
    members: list[Any] = []
    for value in values:
        if isinstance(value, dict | list):
            budget.spend(1 + len(value))
            members += value.values() if isinstance(value, dict) else value
    return members


def _descend(values: list[Any], budget: PathBudget) -> list[Any]:
    """Every value that has members, at any depth."""
    containers: list[Any] = []
    waiting = list(reversed(values))
    while waiting and len(containers) <= _MOST_RESULTS:
        value = waiting.pop()
        members = _members([value], budget)
        if members:
            containers.append(value)
            waiting += reversed(members)
    return containers


def _through(steps: tuple[Step, ...], values: list[Any], budget: PathBudget) -> list[Any]:
    for step in steps:
        values = step(values, budget)
    return values


def _union(parts: list[tuple[Step, ...]], values: list[Any], budget: PathBudget) -> list[Any]:
    return [value for steps in parts for value in _through(steps, values, budget)]


def _slice(text: str) -> Step:
    match = _SLICE.fullmatch(text)
    if match is None:
        raise JsonPathError(f"invalid array index {text}")
    first, last, step = match.groups()
    if first == "-" or last == ":-" or step == ":-":
        raise JsonPathError(f"array index {text} is not a number")
    start = int(first) if first else 0
    derived = last is None
    end = start + 1 if derived else int(last[1:]) if last[1:] else None
    stride = int(step[1:]) if step and step[1:] else 1
    return functools.partial(_sliced, start, end, derived, stride)


def _sliced(
    start: int, end: int | None, derived: bool, stride: int, values: list[Any], budget: PathBudget
) -> list[Any]:
    budget.spend(len(values))
    slices: list[Any] = []
    for value in values:
        if value is None:
            continue
        if not isinstance(value, list):
            raise _Nothing
        length = len(value)
        first = start + length if start < 0 else start
        last = length if end is None else end
        if last < 0 or (last == 0 and derived):
            last += length
        if first == last:
            return slices
        if not 0 <= first < length or not 0 <= last <= length or first > last or stride <= 0:
            raise _Nothing
        budget.spend(last - first)
        slices += value[first:last:stride]
    return slices


def _filter(
    left: tuple[Step, ...], sign: str, right: tuple[Step, ...], values: list[Any], budget: PathBudget
) -> list[Any]:
    matches: list[Any] = []
    for value in values:
        if not isinstance(value, list):
            raise _Nothing
        budget.spend(1 + len(value))
        matches += [item for item in value if _passes(left, sign, right, item, budget)]
    return matches


def _passes(
    left: tuple[Step, ...], sign: str, right: tuple[Step, ...], item: Any, budget: PathBudget
) -> bool:
    if sign == "exists":
        return bool(_find(item, left, budget))
    first, second = _through(left, [item], budget), _through(right, [item], budget)
    if not first or not second:
        return False
    if len(first) > 1 or len(second) > 1 or not _comparable(first[0], second[0]):
        raise _Nothing
    return bool(_COMPARE[sign](first[0], second[0]))


def _comparable(first: Any, other: Any) -> bool:
    """Only values of one type are compared; numbers are one type."""
    if isinstance(first, bool) or isinstance(other, bool):
        return isinstance(first, bool) and isinstance(other, bool)
    numbers = isinstance(first, int | float) and isinstance(other, int | float)
    return numbers or (isinstance(first, str) and isinstance(other, str))
