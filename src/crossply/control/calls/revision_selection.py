"""Selects the revision that a step calls: the one it names, one selected by label, or the newest active."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crossply.compose.conditions import read_conditions
from crossply.compose.object_metadata import labels_of, name_of
from crossply.control.calls.endpoint import Endpoint, function_endpoint, revision_endpoint
from crossply.control.calls.function_revision_runtime import (
    ACTIVE,
    PACKAGE,
    RUNTIME_HEALTHY,
    is_local,
    is_running,
)
from crossply.functions.failures import FunctionNotBound
from crossply.kinds.composition import Step
from crossply.values import Object


class FunctionReference(NamedTuple):
    """The function of a step, and what the step says about its revision."""

    function: str
    revision: str = ""
    labels: tuple[tuple[str, str], ...] = ()


class _Revision(NamedTuple):
    """The fields of a FunctionRevision that matter here."""

    name: str
    package: str
    number: int
    active: bool
    labels: dict[str, str]
    endpoint: Endpoint | None
    capabilities: frozenset[str] | None
    """None where it declares none."""
    runs: bool
    failure: str | None
    """Why it does not run, from its condition RuntimeHealthy; None where that is not False."""


Capabilities = frozenset[tuple[object, ...]]
"""The active revisions of a function, with what selects them and their capabilities."""


class RevisionSelection:
    """The Functions and FunctionRevisions of a cluster."""

    def __init__(self, rollout: bool = True) -> None:
        """Without `rollout`, steps cannot select: whatever they say, they get the active revision."""
        self._rollout = rollout
        self._functions: dict[str, Endpoint | None] = {}
        self._revisions: dict[str, _Revision] = {}
        self._by_function: dict[str, dict[str, _Revision]] = {}
        self._unproven: set[str] = set()
        """Revisions that became active while we watched, and have not run since."""

    def reference(self, step: Step) -> FunctionReference:
        ref, labels = step.function_revision_ref, step.function_revision_selector
        if not self._rollout or (ref is None and labels is None):
            return FunctionReference(step.function)
        return FunctionReference(step.function, ref or "", tuple(sorted((labels or {}).items())))

    def put(self, function: Object) -> str:
        """Add or replace a Function; returns its name."""
        name = name_of(function)
        self._functions[name] = function_endpoint(function)
        return name

    def remove(self, name: str) -> None:
        self._functions.pop(name, None)

    def put_revision(self, revision: Object, is_new: bool = False) -> set[str]:
        """Add or replace a FunctionRevision; returns the affected Functions."""
        read, previous = _read(revision), self._revisions.get(name_of(revision))
        is_new = is_new or (previous is not None and not previous.active)
        is_unproven = not read.runs and (is_new or read.name in self._unproven)
        affected = self.remove_revision(read.name)
        if is_unproven:
            self._unproven.add(read.name)
        self._revisions[read.name] = read
        self._by_function.setdefault(read.package, {})[read.name] = read
        return affected | {read.package}

    def remove_revision(self, name: str) -> set[str]:
        """Remove a FunctionRevision; returns the affected Functions."""
        self._unproven.discard(name)
        revision = self._revisions.pop(name, None)
        if revision is None:
            return set()
        del self._by_function[revision.package][name]
        return {revision.package}

    def endpoints(self, function: str) -> set[Endpoint]:
        """All endpoints at which a function may be called now."""
        revisions = self._by_function.get(function, {}).values()
        active = {revision.endpoint for revision in revisions if revision.active}
        return {endpoint for endpoint in (*active, self._functions.get(function)) if endpoint is not None}

    def why_not_running(self, revision: str) -> str | None:
        """The reason if a revision is reported not to run; else None."""
        known = self._revisions.get(revision)
        return None if known is None else known.failure

    def capabilities(self, function: str) -> Capabilities:
        """What decides which revisions of a function steps get, and what those can do."""
        return frozenset(
            (revision.name, revision.number, tuple(sorted(revision.labels.items())), revision.capabilities)
            for revision in self._by_function.get(function, {}).values()
            if revision.active
        )

    def select(self, reference: FunctionReference) -> Endpoint:
        """The endpoint to call; raises FunctionNotBound if there is none."""
        candidates = list(self._by_function.get(reference.function, {}).values())
        if not candidates and reference == FunctionReference(reference.function):
            # A function that needs no package can be called before it has a revision.
            direct = self._functions.get(reference.function)
            if direct is not None:
                return direct
        return _newest(reference, self._matching(reference, candidates), self._unproven)

    def revision_without(self, reference: FunctionReference, capability: str) -> str | None:
        """The revision that would be called, if it declares capabilities and this is not one of them."""
        try:
            matching = self._matching(reference, list(self._by_function.get(reference.function, {}).values()))
        except FunctionNotBound:
            return None
        active = (revision for revision in matching if revision.active)
        newest = max(active, key=lambda revision: revision.number, default=None)
        if newest is None or newest.capabilities is None or _normalized(capability) in newest.capabilities:
            return None
        return newest.name

    def _matching(self, reference: FunctionReference, candidates: list[_Revision]) -> Iterable[_Revision]:
        if reference.revision:
            named = self._revisions.get(reference.revision)
            if named is None or named.package != reference.function:
                raise _not_bound(
                    reference.function,
                    f'cannot get FunctionRevision "{reference.revision}" of this Function: '
                    f'functionrevisions.pkg.crossplane.io "{reference.revision}" not found',
                    f"see what there is: kubectl get functionrevisions -l {PACKAGE}={reference.function}",
                )
            return [named]
        labels = set(reference.labels)
        return [revision for revision in candidates if labels <= revision.labels.items()]


def _newest(reference: FunctionReference, candidates: Iterable[_Revision], unproven: set[str]) -> Endpoint:
    active = sorted((revision for revision in candidates if revision.active), key=lambda r: -r.number)
    # A new revision that does not run yet is not called while the one before it does. One that did run and
    # does not at the moment is waited for: what it has composed must not be composed by an older one.
    for revision in (*(revision for revision in active if revision.name not in unproven), *active):
        if revision.endpoint is not None:
            return revision.endpoint
    if active:
        raise _not_bound(
            reference.function,
            f'cannot determine gRPC target: active FunctionRevision "{active[0].name}" has an empty '
            "status.endpoint",
            f"see why it does not run: kubectl describe functionrevision {active[0].name}",
        )
    raise _not_bound(
        reference.function,
        "cannot find an active FunctionRevision (a FunctionRevision with spec.desiredState: Active)"
        + _describe_revision(reference),
        f"install a Function of pkg.crossplane.io/v1 that is called {reference.function}, or activate a "
        "revision of it that the step selects",
    )


def _describe_revision(reference: FunctionReference) -> str:
    if reference.revision:
        return f' that is called "{reference.revision}"'
    labels = ", ".join(f"{key}={value}" for key, value in reference.labels)
    return f" with the labels {labels}" if labels else ""


def _not_bound(function: str, problem: str, hint: str) -> FunctionNotBound:
    return FunctionNotBound(
        f'cannot get gRPC client connection for Function "{function}": {problem}', hint=hint
    )


def _read(revision: Object) -> _Revision:
    spec, labels = revision["spec"], labels_of(revision)
    capabilities = (revision.get("status") or {}).get("capabilities")
    return _Revision(
        name_of(revision),
        labels.get(PACKAGE, ""),
        spec.get("revision") or 0,
        spec.get("desiredState") == ACTIVE,
        labels,
        revision_endpoint(revision),
        None if capabilities is None else frozenset(map(_normalized, capabilities)),
        _runs(revision),
        _failure(revision),
    )


def _runs(revision: Object) -> bool:
    """Whether a revision is reported to run; without a report, an endpoint is enough."""
    conditions = read_conditions(revision.get("status"))
    if any(condition["type"] == RUNTIME_HEALTHY for condition in conditions):
        return is_local(revision) or is_running(revision)
    return revision_endpoint(revision) is not None


def _failure(revision: Object) -> str | None:
    if is_local(revision):
        return None
    for condition in read_conditions(revision.get("status")):
        if condition["type"] == RUNTIME_HEALTHY and condition["status"] == "False":
            return str(condition.get("message") or condition.get("reason") or "")
    return None


def _normalized(capability: str) -> str:
    """A capability as it is compared: `SafeStart` and `safe-start` are the same."""
    return "".join(char for char in capability if char.isalnum()).lower()
