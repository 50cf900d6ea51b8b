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
from crossply.values import Object
from crossply.values.deepcopy import equal

MAX_PLANS = 256
"""How many inputs are remembered; the one that came first is forgotten first."""

_NOTHING: Object = {}


class PlanCache:
    """The plans of one dialect."""

    __slots__ = ("_dialect", "_lock", "_plans")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._plans: dict[int, tuple[Object, Plan | str]] = {}
        self._lock = allocate_lock()

    def find(self, given: Object | None) -> Plan | str:
        """The plan of an input, or the message that says what is wrong with the input."""
        if given is None:
            given = _NOTHING
        known = self._plans.get(id(given))
        if known is not None and known[0] is given:
            return known[1]
        with self._lock:
            return self._find_equal(given) or self._make(given)

    def _find_equal(self, given: Object) -> Plan | str | None:
        """Look for an equal input; the newer of the two is the one that may well come again."""
        for identity, (known, plan) in self._plans.items():
            # The first comparison is quick but takes true for 1.
            if known == given and equal(known, given):
                del self._plans[identity]
                self._plans[id(given)] = given, plan
                return plan
        return None

    def _make(self, given: Object) -> Plan | str:
        plan = _plan_or_problem(given, self._dialect)
        self._plans[id(given)] = given, plan
        while len(self._plans) > MAX_PLANS:
            del self._plans[next(iter(self._plans))]
        return plan


def _plan_or_problem(given: Object, dialect: Dialect) -> Plan | str:
    try:
        return make_plan(given, dialect)
    except Fatal as reason:
        return str(reason)
