"""One run of `try_out`: the life of a resource, in which the provider may crash once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from crossply.provider.crash_points import Crash, CrashPoints
from crossply.provider.decode import Path, encode
from crossply.provider.field_model import ListOf, MapOf, Secret, Struct
from crossply.provider.in_memory_external_system import ExternalSystem
from crossply.provider.in_memory_reconcile_driver import InMemoryResource
from crossply.provider.managed_kind import ManagedKind
from crossply.provider.reconcile import INCOMPLETE
from crossply.provider.reconcile_effects import Reconciled
from crossply.provider.try_out_report import Expected, Report
from crossply.values import Object

MOST_RECONCILES = 20
"""Reconciles until a resource must be settled."""

Existing = Callable[[Any], Iterable[str]]


@dataclasses.dataclass(frozen=True)
class Scenario:
    """What is done in each run."""

    kind: ManagedKind
    params: Any
    changes: Sequence[Mapping[str, Any]]
    client: Callable[[], Any] | None
    config: Any
    existing: Existing | None
    drift: Callable[[Any], object] | None
    delete: bool

    def parameters(self) -> Iterator[Any]:
        """The parameters of the creation, then those after each change."""
        cls = self.kind.parameters.cls
        current: Any = self.params if isinstance(self.params, cls) else cls(**self.params)
        yield current
        for change in self.changes:
            current = dataclasses.replace(current, **change)
            yield current

    def names(self, client: Any) -> list[str]:
        """What exists in the external system, as far as we can know."""
        if self.existing is not None:
            return sorted(self.existing(client))
        return sorted(client.names()) if isinstance(client, ExternalSystem) else []


class Run:
    """One life of a resource, with one crash at most."""

    def __init__(
        self,
        scenario: Scenario,
        points: CrashPoints,
        report: Report,
        expected: Expected,
        crash: str = "",
    ) -> None:
        self._scenario = scenario
        self._crash = crash
        self._report = report
        self._expected = expected
        self._is_first = not crash
        self._external = scenario.client() if scenario.client else None
        self._resource = InMemoryResource(scenario.kind, self._open, points)
        if self._external is not None:
            points.wrap(self._external)

    def _open(self, instance: Any) -> Any:
        if self._scenario.client is not None:
            return self._external
        if not self._scenario.kind.has("connect"):
            return None
        config = self._scenario.config
        return instance.connect(config() if callable(config) else config)

    async def play(self) -> None:
        """Play the scenario, and note what is wrong with how it ends."""
        phase = "creation"
        try:
            for number, params in enumerate(self._scenario.parameters()):
                phase = f"change {number}" if number else "creation"
                self._resource.set_parameters(*_encoded(self._scenario.kind.parameters, params))
                await self._settle()
                self._check(number)
            phase = "drift"
            await self._drift()
            phase = "deletion"
            self._keep()
            await self._delete()
        except _Blocked:
            self._report.blocked.append(self._crash or phase)
        except _Wrong as problem:
            after = f", after a {self._crash}" if self._crash else ""
            self._report.problems.append(f"{phase}: {problem}{after}")

    async def _settle(self) -> None:
        """Reconcile until there is nothing to do."""
        reconciled = Reconciled()
        for _ in range(MOST_RECONCILES):
            reconciled = await self._reconcile()
            if reconciled.outcome == "unchanged" and self._resource.is_ready():
                break
        else:
            raise _Wrong(self._why_unsettled(reconciled))
        if self._is_first:
            await self._reconcile()
            if self._resource.writes:
                writes = ", ".join(self._resource.writes)
                raise _Wrong(f"the resource is settled, but each reconcile writes: {writes}")

    async def _reconcile(self) -> Reconciled:
        try:
            reconciled = await self._resource.reconcile()
        except Crash:
            return Reconciled()
        if reconciled.failure == INCOMPLETE:
            raise _Blocked
        return reconciled

    def _why_unsettled(self, reconciled: Reconciled) -> str:
        if reconciled.failure:
            return reconciled.failure
        if reconciled.outcome == "updated":
            drift = [event for event in self._resource.events if event.reason == "DriftDetected"]
            detail = f" ({drift[-1].message})" if drift else ""
            return f"update is called again and again{detail}: observe must return what update wrote"
        if reconciled.outcome == "created":
            return "create is called again and again: observe does not find what create made"
        if reconciled.outcome == "deleting":
            return "delete is called again and again: observe still finds the external resource"
        return f"it is not ready after {MOST_RECONCILES} reconciles"

    def _check(self, phase: int) -> None:
        names = self._names()
        if self._is_first:
            self._expected.counts.append(len(names))
        problem = self._expected.check(phase, names)
        if problem:
            raise _Wrong(problem)

    async def _drift(self) -> None:
        if self._scenario.drift is None:
            return
        self._scenario.drift(self._external)
        reconciled = await self._reconcile()
        if reconciled.outcome == "unchanged":
            raise _Wrong("it is not noticed: observe must return the values that are outside as `actual`")
        await self._settle()

    def _keep(self) -> None:
        """What the report shows of the run without a crash."""
        report, resource = self._report, self._resource
        if self._is_first:
            report.status, report.connection = resource.status, dict(resource.connection)
            report.spec = (resource.live or {}).get("spec") or {}
            report.events, report.names = list(resource.events), self._names()

    async def _delete(self) -> None:
        if not self._scenario.delete:
            return
        self._resource.request_deletion()
        reconciled = Reconciled()
        for _ in range(MOST_RECONCILES):
            if self._resource.live is None:
                break
            reconciled = await self._reconcile()
        else:
            raise _Wrong(self._why_unsettled(reconciled))
        names = self._names()
        if names:
            raise _Wrong(f"left behind: {', '.join(names)}")

    def _names(self) -> list[str]:
        return self._scenario.names(self._external)


class _Wrong(Exception):
    """The resource did not end as it should."""


class _Blocked(Exception):
    """A person must find out what exists."""


def _encoded(struct: Struct, params: Any) -> tuple[Object, dict[Path, str]]:
    """spec.forProvider and the values of Secrets of given parameters."""
    return encode(struct, params), dict(_secrets(struct, params, ()))


def _secrets(field_type: Any, value: Any, path: Path) -> Iterable[tuple[Path, str]]:
    if isinstance(field_type, Struct):
        for field in field_type:
            inner = getattr(value, field.name, None)
            if inner is not None and isinstance(field.type, Secret):
                yield (*path, field.json_name), str(inner)
            elif inner is not None:
                yield from _secrets(field.type, inner, (*path, field.json_name))
    elif isinstance(field_type, ListOf):
        for index, item in enumerate(value):
            yield from _secrets(field_type.item, item, (*path, index))
    elif isinstance(field_type, MapOf):
        for key, item in value.items():
            yield from _secrets(field_type.value, item, (*path, key))
