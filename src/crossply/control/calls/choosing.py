"""Which revision of a function a step calls: the one it names, one it selects, or the newest active one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crossply.compose.conditions import read_conditions
from crossply.compose.metadata import labels_of, name_of
from crossply.control.calls.ways import Way, way_of_function, way_of_revision
from crossply.control.package_manager.activation import ACTIVE
from crossply.control.package_manager.health import RUNTIME_HEALTHY, runs_as_it_is
from crossply.control.package_manager.revisions_local import PACKAGE, is_local
from crossply.functions.failures import FunctionNotBound
from crossply.kinds.composition import Step
from crossply.values import Object


class Wanted(NamedTuple):
    """What a step says about the function that it calls."""

    function: str
    revision: str = ""
    labels: tuple[tuple[str, str], ...] = ()


class _Revision(NamedTuple):
    """What matters of a FunctionRevision."""

    name: str
    package: str
    number: int
    active: bool
    labels: dict[str, str]
    way: Way | None
    capabilities: frozenset[str] | None
    """What it says it can do; None where it does not say."""
    runs: bool
    trouble: str | None
    """Why it does not run, as its condition RuntimeHealthy says; None where that is not False."""


Abilities = frozenset[tuple[object, ...]]
"""What decides which revisions of a function steps get, and what those say they can do."""


class Choices:
    """The Functions and FunctionRevisions that there are."""

    def __init__(self, rollout: bool = True) -> None:
        """Without `rollout`, steps cannot choose: whatever they say, they get the one that is active."""
        self._rollout = rollout
        self._functions: dict[str, Way | None] = {}
        self._revisions: dict[str, _Revision] = {}
        self._of: dict[str, dict[str, _Revision]] = {}
        self._unproven: set[str] = set()
        """Revisions that became active while we looked, and did not run since."""

    def wanted(self, step: Step) -> Wanted:
        """What a step says about its function."""
        ref, labels = step.function_revision_ref, step.function_revision_selector
        if not self._rollout or (ref is None and labels is None):
            return Wanted(step.function)
        return Wanted(step.function, ref or "", tuple(sorted((labels or {}).items())))

    def put(self, function: Object) -> str:
        """Know a Function as it is now; its name."""
        name = name_of(function)
        self._functions[name] = way_of_function(function)
        return name

    def remove(self, name: str) -> None:
        """Forget a Function."""
        self._functions.pop(name, None)

    def put_revision(self, revision: Object, is_new: bool = False) -> set[str]:
        """Know a FunctionRevision as it is now; the Functions that this concerns."""
        read, before = _read(revision), self._revisions.get(name_of(revision))
        is_new = is_new or (before is not None and not before.active)
        is_unproven = not read.runs and (is_new or read.name in self._unproven)
        concerned = self.remove_revision(read.name)
        if is_unproven:
            self._unproven.add(read.name)
        self._revisions[read.name] = read
        self._of.setdefault(read.package, {})[read.name] = read
        return concerned | {read.package}

    def remove_revision(self, name: str) -> set[str]:
        """Forget a FunctionRevision; the Functions that this concerns."""
        self._unproven.discard(name)
        before = self._revisions.pop(name, None)
        if before is None:
            return set()
        del self._of[before.package][name]
        return {before.package}

    def ways(self, function: str) -> set[Way]:
        """All ways in which a function may be called now."""
        found = {each.way for each in self._of.get(function, {}).values() if each.active}
        return {way for way in (*found, self._functions.get(function)) if way is not None}

    def not_running(self, revision: str) -> str | None:
        """Why a revision is known not to run; None where it runs, or nobody says anything about that."""
        known = self._revisions.get(revision)
        return None if known is None else known.trouble

    def abilities(self, function: str) -> Abilities:
        """The active revisions of a function, and what they say they can do."""
        return frozenset(
            (each.name, each.number, tuple(sorted(each.labels.items())), each.capabilities)
            for each in self._of.get(function, {}).values()
            if each.active
        )

    def choose(self, wanted: Wanted) -> Way:
        """How to call the function that a step wants; raises why there is none."""
        candidates = list(self._of.get(wanted.function, {}).values())
        if not candidates and wanted == Wanted(wanted.function):
            # A function that needs no package can be called before it has a revision.
            direct = self._functions.get(wanted.function)
            if direct is not None:
                return direct
        return _newest(wanted, self._among(wanted, candidates), self._unproven)

    def lacking(self, wanted: Wanted, capability: str) -> str:
        """The revision that would be called, if it says what it can do and this is not part of it."""
        try:
            found = self._among(wanted, list(self._of.get(wanted.function, {}).values()))
        except FunctionNotBound:
            return ""
        newest = max((each for each in found if each.active), key=lambda each: each.number, default=None)
        if newest is None or newest.capabilities is None or _plain(capability) in newest.capabilities:
            return ""
        return newest.name

    def _among(self, wanted: Wanted, candidates: list[_Revision]) -> Iterable[_Revision]:
        if wanted.revision:
            named = self._revisions.get(wanted.revision)
            if named is None or named.package != wanted.function:
                raise _not_bound(
                    wanted.function,
                    f'cannot get FunctionRevision "{wanted.revision}" of this Function: '
                    f'functionrevisions.pkg.crossplane.io "{wanted.revision}" not found',
                    f"see what there is: kubectl get functionrevisions -l {PACKAGE}={wanted.function}",
                )
            return [named]
        return [each for each in candidates if set(wanted.labels) <= each.labels.items()]


def _newest(wanted: Wanted, candidates: Iterable[_Revision], unproven: set[str]) -> Way:
    active = sorted((each for each in candidates if each.active), key=lambda each: -each.number)
    # A new one that does not run yet is not called while the one before it does; one that did run and does
    # not at the moment is waited for: what it has composed is not to be composed by an older one.
    for each in (*(each for each in active if each.name not in unproven), *active):
        if each.way is not None:
            return each.way
    if active:
        raise _not_bound(
            wanted.function,
            f'cannot determine gRPC target: active FunctionRevision "{active[0].name}" has an empty '
            "status.endpoint",
            f"see why it does not run: kubectl describe functionrevision {active[0].name}",
        )
    raise _not_bound(
        wanted.function,
        "cannot find an active FunctionRevision (a FunctionRevision with spec.desiredState: Active)"
        + _asked_for(wanted),
        f"install a Function of pkg.crossplane.io/v1 that is called {wanted.function}, or activate a "
        "revision of it that the step selects",
    )


def _asked_for(wanted: Wanted) -> str:
    """What a step says of the revision that it wants."""
    if wanted.revision:
        return f' that is called "{wanted.revision}"'
    labels = ", ".join(f"{key}={value}" for key, value in wanted.labels)
    return f" with the labels {labels}" if labels else ""


def _not_bound(function: str, problem: str, hint: str) -> FunctionNotBound:
    return FunctionNotBound(
        f'cannot get gRPC client connection for Function "{function}": {problem}', hint=hint
    )


def _read(revision: Object) -> _Revision:
    spec, labels = revision["spec"], labels_of(revision)
    said = (revision.get("status") or {}).get("capabilities")
    return _Revision(
        name_of(revision),
        labels.get(PACKAGE, ""),
        spec.get("revision") or 0,
        spec.get("desiredState") == ACTIVE,
        labels,
        way_of_revision(revision),
        None if said is None else frozenset(map(_plain, said)),
        _runs(revision),
        _trouble(revision),
    )


def _runs(revision: Object) -> bool:
    """Whether a revision is known to run; where nobody says anything about that, an endpoint is enough."""
    conditions = read_conditions(revision.get("status"))
    if any(each["type"] == RUNTIME_HEALTHY for each in conditions):
        return is_local(revision) or runs_as_it_is(revision)
    return way_of_revision(revision) is not None


def _trouble(revision: Object) -> str | None:
    if is_local(revision):
        return None
    for condition in read_conditions(revision.get("status")):
        if condition["type"] == RUNTIME_HEALTHY and condition["status"] == "False":
            return str(condition.get("message") or condition.get("reason") or "")
    return None


def _plain(capability: str) -> str:
    """A capability as it is compared: `SafeStart` and `safe-start` are the same."""
    return "".join(char for char in capability if char.isalnum()).lower()
