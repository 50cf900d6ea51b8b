"""A cache of compiled inputs.

The engine passes the same input object every time, so the key is its identity. An input that came over the
wire is a new object each time. It is compared with the cached ones, which is much faster than compiling it
again. Inputs are read-only, and the cache holds a reference to each, so an identity is never reused.
"""

from __future__ import annotations

from _thread import allocate_lock
from marshal import dumps

from crossply.functions.builtin.patch_and_transform.compiled_input import CompiledInput, compile_input
from crossply.functions.builtin.patch_and_transform.dialect import Dialect
from crossply.functions.builtin.patch_and_transform.errors import Fatal
from crossply.functions.reply_limits import LimitExceeded, TooMuchAtOnce, current_limits, size_of
from crossply.values import Object
from crossply.values.deepcopy import equal

# The lock itself: `threading` takes a millisecond to import.


MAX_INPUTS = 256
"""How many inputs are cached; the oldest is evicted first."""

MAX_BYTES = 64 << 20
"""Roughly how much memory the cached inputs and their compiled form take together."""

LARGE_INPUT = 64 << 10
"""An input of more bytes is not compiled in an event loop."""

_BYTES_OF_PATCH = 1 << 10

_EMPTY: Object = {}


class CompiledInputCache:
    """The compiled inputs of one dialect."""

    __slots__ = ("_bytes", "_compiled_inputs", "_dialect", "_lock")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._compiled_inputs: dict[int, tuple[Object, CompiledInput | str, int]] = {}
        self._bytes = 0
        self._lock = allocate_lock()

    def get(self, function_input: Object | None) -> CompiledInput | str:
        """The compiled input, or the error message of an invalid input."""
        if function_input is None:
            function_input = _EMPTY
        known = self._compiled_inputs.get(id(function_input))
        if known is not None and known[0] is function_input:
            return known[1]
        with self._lock:
            compiled = self._get_equal(function_input)
        return compiled or self._compile(function_input)

    def _get_equal(self, function_input: Object) -> CompiledInput | str | None:
        """Look up an equal input and replace its key: the newer object is more likely to come again."""
        for identity, (known, compiled, weight) in self._compiled_inputs.items():
            if _is_same(known, function_input):
                del self._compiled_inputs[identity]
                self._compiled_inputs[id(function_input)] = function_input, compiled, weight
                return compiled
        return None

    def _compile(self, function_input: Object) -> CompiledInput | str:
        # Not under the lock: an event loop may wait for it.
        _refuse_large_in_event_loop(function_input)
        compiled = _compile_or_error(function_input, self._dialect)
        weight = _weight(function_input, compiled)
        with self._lock:
            self._bytes += weight - self._compiled_inputs.pop(id(function_input), (None, "", 0))[2]
            self._compiled_inputs[id(function_input)] = function_input, compiled, weight
            while len(self._compiled_inputs) > MAX_INPUTS or self._bytes > MAX_BYTES:
                self._bytes -= self._compiled_inputs.pop(next(iter(self._compiled_inputs)))[2]
        return compiled


def _is_same(first: Object, second: Object) -> bool:
    """Whether two inputs are equal, types included: == is fast but treats True as 1."""
    if first != second:
        return False
    try:
        # Several times faster than `equal`, but false when only the order of keys differs.
        if dumps(first, 2) == dumps(second, 2):
            return True
    except ValueError:
        pass  # nested too deep for marshal
    return equal(first, second)


def _refuse_large_in_event_loop(function_input: Object) -> None:
    """Raise TooMuchAtOnce for a large input, so that a thread compiles it."""
    if not current_limits().in_event_loop:
        return
    try:
        is_large = size_of(function_input, LARGE_INPUT) > LARGE_INPUT
    except LimitExceeded:
        return  # nested too deep, which decoding refuses
    if is_large:
        raise TooMuchAtOnce


def _weight(function_input: Object, compiled: CompiledInput | str) -> int:
    """Roughly how many bytes of memory an entry takes: objects take several times the size of their JSON."""
    try:
        size = 8 * size_of(function_input, MAX_BYTES)
    except LimitExceeded:
        return MAX_BYTES  # nested too deep to be measured or used
    if isinstance(compiled, str):
        return size + len(compiled)
    patches = len(compiled.environment) + sum(len(template.patches) for template in compiled.templates)
    return size + patches * _BYTES_OF_PATCH


def _compile_or_error(function_input: Object, dialect: Dialect) -> CompiledInput | str:
    try:
        return compile_input(function_input, dialect)
    except Fatal as error:
        return str(error)
