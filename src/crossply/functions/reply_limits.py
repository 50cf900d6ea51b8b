"""How large a function's reply may be and how long it may take, wherever the function runs.

gRPC counts the bytes of a reply. A function that runs in this process is held to the same limits: `InProcess`
sets them for a call, and whatever copies values checks them as it goes, before the memory is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextvars import ContextVar, Token
from marshal import dumps
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from crossply.compose.function_messages import State
from crossply.values.goquote import quote

T = TypeVar("T")

MAX_REPLY = 4 << 20
"""The largest reply in bytes: the default limit of every gRPC client."""

MAX_RESOURCE = 3 << 20
"""The largest resource in bytes: API servers take no larger request."""

MAX_DEPTH = 300
"""How deep a value may nest, as in `values.protobuf_struct`."""

UNMEASURED = 1 << 20
"""How much a call may add to the desired state, in bytes, before the state is measured."""

EVENT_LOOP_SECONDS = 0.05
"""How long a call may keep an event loop from other work."""

_ADVICE = "compose fewer or smaller resources, or copy smaller fields"


class Limits(NamedTuple):
    """The limits of one call."""

    reply: int = MAX_REPLY
    deadline: float = math.inf
    """When the call has to end, on the monotonic clock."""
    in_event_loop: bool = False
    """Whether others wait for this call: it is given up, and made again in a thread, where it is large."""


class LimitExceeded(Exception):
    """A call exceeds a limit; the message names the limit and what to do."""


class TooMuchAtOnce(BaseException):
    """A call takes too long for an event loop. Not an Exception: functions must not answer it."""


_DEFAULTS = Limits()
_current: ContextVar[Limits] = ContextVar("limits", default=_DEFAULTS)

current_limits = _current.get
"""The limits of the call under way."""


def set_limits(limits: Limits) -> Token[Limits]:
    """Hold what is called from here on to these limits, until `reset_limits` gets the token."""
    return _current.set(limits)


def reset_limits(token: Token[Limits]) -> None:
    """Return to the limits before."""
    _current.reset(token)


def size_of(value: Any, most: float = math.inf) -> int:
    """How many bytes a value takes on the wire, roughly; any number beyond `most` where it takes more.

    Raises LimitExceeded where the value nests too deep.
    """
    size, depth, level = 0, 0, [value]
    while level:
        inner: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is str:
                size += 3 + text_size(item)
            elif kind is dict:
                size += sum(map(text_size, item)) + 6 * len(item)
                inner.extend(item.values())
            elif kind is list:
                size += 4 + 2 * len(item)
                inner.extend(item)
            else:
                size += 9
            if size > most:
                return size
        depth += 1
        if depth > MAX_DEPTH and inner:
            raise LimitExceeded(f"value nests deeper than {MAX_DEPTH} levels")
        level = inner
    return size


def copy_size(value: Any) -> int:
    """The size of a value that was just copied: written by C, several times faster than `size_of` is."""
    try:
        return len(dumps(value, 2))
    except ValueError:
        raise LimitExceeded(f"value nests deeper than {MAX_DEPTH} levels") from None


def check_deadline(limits: Limits) -> None:
    """Raise LimitExceeded, or TooMuchAtOnce in an event loop, where a call takes too long."""
    if monotonic() <= limits.deadline:
        return
    if limits.in_event_loop:
        raise TooMuchAtOnce
    raise LimitExceeded(
        "its calculations take longer than the timeout of the call: give it less to do, copy smaller "
        "fields, or raise the timeout"
    )


def within_deadline(items: Iterable[T]) -> Iterator[T]:
    """The items of a loop, each after `check_deadline`."""
    limits = current_limits()
    for item in items:
        check_deadline(limits)
        yield item


class Meter:
    """Counts what a call adds to its reply while it adds it: measured at the end, it would be too late."""

    __slots__ = ("_limits", "_size")

    def __init__(self) -> None:
        self._limits = current_limits()
        self._size = 0

    def add(self, size: int) -> None:
        """Count so many bytes; raises LimitExceeded, or TooMuchAtOnce in an event loop."""
        self._size += size
        check_total(self._size, self._limits.reply)
        check_deadline(self._limits)


def text_size(text: str) -> int:
    """How many bytes a text takes as UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def check_reply(state: State, context: Any, limit: int) -> int:
    """The size of a reply; raises LimitExceeded where it, or a resource in it, is too large."""
    total = size_of(context, limit)
    if state.composite is not None:
        total += size_of(state.composite.object, limit)
    for name, resource in state.resources.items():
        size = size_of(resource.object, min(limit, MAX_RESOURCE))
        check_resource(name, size)
        total += size
        if total > limit:
            break
    check_total(total, limit)
    return total


def check_resource(name: str, size: int) -> None:
    """Raise LimitExceeded where a composed resource is too large."""
    if size > MAX_RESOURCE:
        raise LimitExceeded(
            f"composed resource {quote(name)} is larger than {MAX_RESOURCE} bytes, the most that an API "
            f"server takes: {_ADVICE}"
        )


def check_total(size: int, limit: int) -> None:
    """Raise LimitExceeded where a reply is too large."""
    if size > limit:
        raise LimitExceeded(
            f"desired state is larger than {limit} bytes, the limit of a function's reply "
            f"(--max-function-reply-size): {_ADVICE}"
        )
