"""Plans kept between runs.

The engine passes the same input object every time, so a look at its identity is enough. An input that came
over the wire is new each time: it is compared with those that are known, which takes far less than reading
it anew. An input is read-only, and the cache holds on to it: an identity cannot come to mean another object.
"""

from __future__ import annotations

# The lock itself: `threading` takes a millisecond to import.
from _thread import allocate_lock

from crossply.functions.builtin.patch_and_transform.dialect import Dialect
from crossply.functions.builtin.patch_and_transform.failure import Fatal
from crossply.functions.builtin.patch_and_transform.plan import Plan, make_plan
from crossply.functions.reply_limits import LimitExceeded, TooMuchAtOnce, current_limits, size_of
from crossply.values import Object
from crossply.values.deepcopy import equal

MAX_PLANS = 256
"""How many inputs are remembered; the one that came first is forgotten first."""

MAX_BYTES = 64 << 20
"""How much memory the inputs and plans that are remembered take together, roughly."""

LARGE_INPUT = 64 << 10
"""An input of so many bytes is not read in an event loop."""

_BYTES_OF_PATCH = 1 << 10

_NOTHING: Object = {}


class PlanCache:
    """The plans of one dialect."""

    __slots__ = ("_bytes", "_dialect", "_lock", "_plans")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._plans: dict[int, tuple[Object, Plan | str, int]] = {}
        self._bytes = 0
        self._lock = allocate_lock()

    def find(self, given: Object | None) -> Plan | str:
        """The plan of an input, or the message that says what is wrong with the input."""
        if given is None:
            given = _NOTHING
        known = self._plans.get(id(given))
        if known is not None and known[0] is given:
            return known[1]
        with self._lock:
            equal_plan = self._find_equal(given)
        return equal_plan or self._make(given)

    def _find_equal(self, given: Object) -> Plan | str | None:
        """Look for an equal input; the newer of the two is the one that may well come again."""
        for identity, (known, plan, weight) in self._plans.items():
            # The first comparison is quick but takes true for 1.
            if known == given and equal(known, given):
                del self._plans[identity]
                self._plans[id(given)] = given, plan, weight
                return plan
        return None

    def _make(self, given: Object) -> Plan | str:
        # Outside of the lock: an event loop may wait for it.
        _check_event_loop(given)
        plan = _plan_or_problem(given, self._dialect)
        weight = _weight(given, plan)
        with self._lock:
            self._bytes += weight - self._plans.pop(id(given), (None, "", 0))[2]
            self._plans[id(given)] = given, plan, weight
            while len(self._plans) > MAX_PLANS or self._bytes > MAX_BYTES:
                self._bytes -= self._plans.pop(next(iter(self._plans)))[2]
        return plan


def _check_event_loop(given: Object) -> None:
    """Leave a large input to a thread."""
    if not current_limits().in_event_loop:
        return
    try:
        is_large = size_of(given, LARGE_INPUT) > LARGE_INPUT
    except LimitExceeded:
        return  # what nests too deep is refused soon
    if is_large:
        raise TooMuchAtOnce


def _weight(given: Object, plan: Plan | str) -> int:
    """How many bytes of memory an input and its plan take, roughly: objects take several times their text."""
    try:
        size = 8 * size_of(given, MAX_BYTES)
    except LimitExceeded:
        return MAX_BYTES  # it nests too deep to be measured, or to be of use
    if isinstance(plan, str):
        return size + len(plan)
    patches = len(plan.environment) + sum(len(template.patches) for template in plan.templates)
    return size + patches * _BYTES_OF_PATCH


def _plan_or_problem(given: Object, dialect: Dialect) -> Plan | str:
    try:
        return make_plan(given, dialect)
    except Fatal as reason:
        return str(reason)
