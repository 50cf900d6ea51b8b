"""Values as text: the output of actions, and Go's Sprint, Sprintln and Sprintf for template values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import (
    NO_VALUE,
    Duration,
    Failure,
    Structure,
    go_type,
)
from crossply.functions.builtin.go_templating.engine.limits import LimitExceeded, check_items, check_size
from crossply.values import goformat
from crossply.values.durations import duration_text
from crossply.values.goformat_parse import Directive, plan
from crossply.values.goformat_verbs import PLAIN, Flags, print_value

_INTEGER_VERBS = frozenset("vdboOxXcqU")


def text_of(value: Any) -> str:
    """What an action prints."""
    if value is None or value is NO_VALUE:
        return "<no value>"
    return plain(value)


def plain(value: Any) -> str:
    """What Go's `%v` prints."""
    kind = value.__class__
    if kind is str:
        return value  # type: ignore[no-any-return]
    if kind is bool:
        return "true" if value else "false"
    if kind is Duration:
        return duration_text(value)
    if kind is complex:
        return f"({plain(value.real)}{'' if value.imag < 0 else '+'}{plain(value.imag)}i)"
    if isinstance(value, int | Structure | Failure):
        return str(value)
    return print_value(printable(value), "v", PLAIN)


def sprint(values: Sequence[Any]) -> str:
    """Go's Sprint: a space between two values of which neither is a string."""
    pieces: list[str] = []
    before_is_text = True
    for value in values:
        is_text = isinstance(value, str)
        if pieces and not is_text and not before_is_text:
            pieces.append(" ")
        pieces.append("<nil>" if value is None else plain(value))
        before_is_text = is_text
    check_size(sum(map(len, pieces)))
    return "".join(pieces)


def sprintln(values: Sequence[Any]) -> str:
    """Go's Sprintln: a space between all values, and a line break."""
    pieces = ["<nil>" if value is None else plain(value) for value in values]
    check_size(sum(map(len, pieces)))
    return " ".join(pieces) + "\n"


def sprintf(text: str, values: Sequence[Any]) -> str:
    """Go's Sprintf. It knows more types than JSON has, and names them when a verb does not fit."""
    shown = [printable(value) for value in values]
    prepared = plan(text, len(values))
    if any(_is_starred(piece) for piece in prepared.pieces if isinstance(piece, Directive)):
        return goformat.sprintf(text, shown)
    pieces: list[str] = []
    length = 0
    for piece in prepared.pieces:
        done = piece if isinstance(piece, str) else _formatted(piece, values, shown)
        length += len(done)
        check_size(length)
        pieces.append(done)
    if prepared.extra_from is not None:
        pieces.append(_extra(values[prepared.extra_from :], shown[prepared.extra_from :]))
    return "".join(pieces)


def _is_starred(directive: Directive) -> bool:
    return directive.width_from is not None or directive.precision_from is not None


def _formatted(directive: Directive, values: Sequence[Any], shown: Sequence[Any]) -> str:
    if directive.argument is None:
        return directive.fixed
    check_size(directive.flags.width)
    check_size(directive.flags.precision or 0)
    return with_verb(values[directive.argument], shown[directive.argument], directive.verb, directive.flags)


def with_verb(value: Any, shown: Any, verb: str, flags: Flags) -> str:
    """One value by one verb; `shown` is the value as `printable` gives it."""
    if verb == "T" and value is not None:
        return print_value(go_type(value), "s", flags)
    if isinstance(value, list | dict) and verb not in "vTp":
        return _container_with_verb(value, shown, verb, flags)
    if isinstance(value, bytes) and verb in "sqxX":
        return print_value(value.decode("utf-8", "surrogateescape"), verb, flags)
    if shown.__class__ is int and verb not in _INTEGER_VERBS:
        return f"%!{verb}({go_type(value)}={print_value(shown, 'v', flags)})"
    return print_value(shown, verb, flags)


def _container_with_verb(value: Any, shown: Any, verb: str, flags: Flags) -> str:
    """The items one by one, so that each one that does not fit the verb is named by its own type."""

    def item(value_item: Any, shown_item: Any) -> str:
        return "<nil>" if value_item is None else with_verb(value_item, shown_item, verb, flags)

    if isinstance(value, list):
        return f"[{' '.join(map(item, value, shown))}]"
    entries = (f"{item(key, key)}:{item(value[key], shown[key])}" for key in sorted(value))
    return f"map[{' '.join(entries)}]"


def _extra(values: Sequence[Any], shown: Sequence[Any]) -> str:
    extra = (
        "<nil>" if value is None else f"{go_type(value)}={print_value(shown_value, 'v', PLAIN)}"
        for value, shown_value in zip(values, shown, strict=True)
    )
    return f"%!(EXTRA {', '.join(extra)})"


def printable(value: Any) -> Any:
    """The value made of what `values.goformat` knows: plain numbers, and bytes as lists of them."""
    kind = value.__class__
    if kind is str or kind is bool or kind is float or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    try:
        return _Printable().of(value)
    except RecursionError:
        raise LimitExceeded("value nests too deep to be printed") from None


class _Printable:
    """Makes one value printable, and counts: a few lists that share their items can look like billions."""

    __slots__ = ("_items",)

    def __init__(self) -> None:
        self._items = 0

    def of(self, value: Any) -> Any:
        """The value, printable."""
        kind = value.__class__
        if kind is str or kind is bool or kind is float or value is None:
            return value
        if isinstance(value, int):
            return int(value)
        if isinstance(value, dict | list):
            self._items += len(value)
            check_items(self._items)
        if isinstance(value, dict):
            return {key: self.of(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.of(item) for item in value]
        return list(value) if kind is bytes else str(value)
