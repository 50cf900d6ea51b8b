"""Plans kept between runs.

The engine passes the same input object every time, so a look at its identity is enough; an input that came
over the wire is new each time and is recognised by its digest. An input is read-only, and the cache holds on
to it: an identity cannot come to mean another object.
"""

from __future__ import annotations

from threading import Lock
from typing import TypeVar

from crossply.functions.builtin.patch_and_transform.dialect import Dialect
from crossply.functions.builtin.patch_and_transform.failure import Fatal
from crossply.functions.builtin.patch_and_transform.plan import Plan, make_plan
from crossply.values import Object
from crossply.values.digest import of_value

MAX_PLANS = 256
"""How many inputs are remembered; the one that came first is forgotten first."""

_NOTHING: Object = {}
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class PlanCache:
    """The plans of one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._by_identity: dict[int, tuple[Object, Plan | str]] = {}
        self._by_digest: dict[str, Plan | str] = {}
        self._lock = Lock()

    def find(self, given: Object | None) -> Plan | str:
        """The plan of an input, or the message that says what is wrong with the input."""
        if given is None:
            given = _NOTHING
        entry = self._by_identity.get(id(given))
        if entry is not None and entry[0] is given:
            return entry[1]
        return self._make(given)

    def _make(self, given: Object) -> Plan | str:
        digest = of_value(given)
        plan = self._by_digest.get(digest)
        if plan is None:
            plan = _plan_or_problem(given, self._dialect)
        with self._lock:
            _remember(self._by_digest, digest, plan)
            _remember(self._by_identity, id(given), (given, plan))
        return plan


def _plan_or_problem(given: Object, dialect: Dialect) -> Plan | str:
    try:
        return make_plan(given, dialect)
    except Fatal as reason:
        return str(reason)


def _remember(cache: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    cache[key] = value
    while len(cache) > MAX_PLANS:
        del cache[next(iter(cache))]
