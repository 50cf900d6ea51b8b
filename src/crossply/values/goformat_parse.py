"""Reading a Go format: text to a plan of literal pieces and directives. See `goformat`.

Which argument a directive takes depends on the format and on how many arguments there are, never on their
values; so a plan is made once for the two and remembered.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from crossply.values.goformat_verbs import PLAIN, Flags

_FLAGS = {"#": "sharp", "0": "zero", "+": "plus", "-": "minus", " ": "space"}
_MAX_NUMBER = 1_000_000


class Directive(NamedTuple):
    """One `%…` of a format: which argument it prints and how, or the fixed text it leaves."""

    verb: str
    flags: Flags
    argument: int | None = None
    fixed: str = ""
    width_from: int | None = None
    precision_from: int | None = None


class Plan(NamedTuple):
    """A format, read for a number of arguments; `extra_from` is the first unused argument."""

    pieces: tuple[str | Directive, ...]
    extra_from: int | None


@lru_cache(maxsize=1024)
def plan(format: str, count: int) -> Plan:  # noqa: A002 - Go's name for it
    """Read a format that will be given `count` arguments."""
    return _Reader(format, count).read()


class _Reader:
    """A cursor over a format. The attributes below `count` belong to the directive being read."""

    __slots__ = ("_after_index", "_argument", "_at", "_count", "_good_index", "_reordered", "_text")

    def __init__(self, text: str, count: int) -> None:
        self._text = text
        self._count = count
        self._at = 0
        self._argument = 0
        self._reordered = False
        self._good_index = True
        self._after_index = False

    def read(self) -> Plan:
        pieces: list[str | Directive] = []
        while self._at < len(self._text):
            literal = self._literal()
            if literal:
                pieces.append(literal)
            if self._at < len(self._text):
                self._at += 1
                pieces.append(self._directive())
        extra = not self._reordered and self._argument < self._count
        return Plan(tuple(pieces), self._argument if extra else None)

    def _literal(self) -> str:
        start = self._at
        percent = self._text.find("%", start)
        self._at = len(self._text) if percent < 0 else percent
        return self._text[start : self._at]

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _directive(self) -> Directive:
        self._good_index = True
        self._after_index = False
        flags = self._flags()
        self._index()
        flags, width_from = self._width(flags)
        flags, precision_from = self._precision(flags)
        if not self._after_index:
            self._index()
        return self._verb(flags, width_from, precision_from)

    def _flags(self) -> Flags:
        flags = {}
        while self._peek() in _FLAGS:
            flags[_FLAGS[self._peek()]] = True
            self._at += 1
        return Flags(**flags) if flags else PLAIN

    def _index(self) -> None:
        """Read an explicit argument index, `[3]`."""
        self._after_index = False
        if self._peek() != "[":
            return
        self._reordered = True
        closing = self._text.find("]", self._at) if len(self._text) - self._at >= 3 else -1
        if closing < 0:
            self._at += 1
            self._good_index = False
            return
        number, stop = _number(self._text, self._at + 1, closing)
        self._at = closing + 1
        if number is None or stop != closing:
            self._good_index = False
            return
        self._after_index = True
        if 1 <= number <= self._count:
            self._argument = number - 1
        else:
            self._good_index = False

    def _width(self, flags: Flags) -> tuple[Flags, int | None]:
        if self._peek() == "*":
            return flags, self._star()
        number, self._at = _number(self._text, self._at, len(self._text))
        if number is None:
            return flags, None
        if self._after_index:
            self._good_index = False
        return flags._replace(width=number), None

    def _precision(self, flags: Flags) -> tuple[Flags, int | None]:
        if self._peek() != "." or self._at + 1 >= len(self._text):
            return flags, None
        self._at += 1
        if self._after_index:
            self._good_index = False
        self._index()
        if self._peek() == "*":
            return flags, self._star()
        number, self._at = _number(self._text, self._at, len(self._text))
        return flags._replace(precision=number or 0), None

    def _star(self) -> int:
        """Give the next argument to a `*`; one that does not exist is not used up."""
        self._at += 1
        self._after_index = False
        index = self._argument
        if index < self._count:
            self._argument += 1
        return index

    def _verb(self, flags: Flags, width_from: int | None, precision_from: int | None) -> Directive:
        verb = self._peek()
        self._at += 1
        directive = Directive(verb, flags, None, "", width_from, precision_from)
        if not verb:
            return directive._replace(fixed="%!(NOVERB)")
        if verb == "%":
            return directive._replace(fixed="%")
        if not self._good_index:
            return directive._replace(fixed=f"%!{verb}(BADINDEX)")
        if self._argument >= self._count:
            return directive._replace(fixed=f"%!{verb}(MISSING)")
        self._argument += 1
        return directive._replace(argument=self._argument - 1, flags=_for_verb(flags, verb))


def _for_verb(flags: Flags, verb: str) -> Flags:
    # For %v the flags # and + ask for another notation, not for what they mean to numbers.
    if verb not in "vw" or not (flags.sharp or flags.plus):
        return flags
    return flags._replace(sharp=False, plus=False, sharp_v=flags.sharp)


def _number(text: str, start: int, end: int) -> tuple[int | None, int]:
    """Read digits; a number beyond all sense uses up the rest, as in Go."""
    number = 0
    at = start
    while at < end and "0" <= text[at] <= "9":
        if number > _MAX_NUMBER:
            return None, end
        number = number * 10 + int(text[at])
        at += 1
    return (number if at > start else None), at
