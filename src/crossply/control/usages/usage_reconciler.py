"""One Usage, reconciled: find both parties, mark the used one, and take the mark away in the end.

The Usage is written before the used resource is marked: from the mark on a deletion is refused (see
`webhooks.usage_review`), and the finalizer sees to it that the mark goes before the Usage does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from crossply.compose.conditions import with_conditions
from crossply.compose.events import NORMAL, WARNING, Event, StatusCondition
from crossply.compose.object_metadata import (
    annotations_of,
    labels_of,
    name_of,
    namespace_of,
    owner_reference,
    uid_of,
)
from crossply.control.controller_context import Plane
from crossply.control.usages.usage_index import Usages
from crossply.control.usages.usage_model import (
    DETAILS,
    FINALIZER,
    IN_USE,
    Usage,
    UsageKey,
    UsageResource,
    details_of,
    read_usage,
)
from crossply.control.usages.usage_release import UsageRelease
from crossply.control.usages.usage_watches import AwaitedResources, InUse, Served, Wait
from crossply.control.usages.used_resources import ResourceMissing, UsedResources
from crossply.errors import CrossplyError
from crossply.kube.failures import NotFound
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.values.api_version import api_group

MANAGER = "crossplane"
AVAILABLE = StatusCondition("Ready", "True", "Available")
CONFIGURED = Event(NORMAL, "UsageConfigured", "Usage configured successfully.")


class Stalled(NamedTuple):
    """Why a Usage cannot go on, and what it waits for."""

    reason: str
    message: str
    waits: tuple[Wait, ...]


class UsageReconciler:
    """Reconciles Usages of all kinds."""

    def __init__(self, plane: Plane, usages: Usages, watches: AwaitedResources) -> None:
        self._plane = plane
        self._usages = usages
        self._watches = watches
        self._parties = UsedResources(plane, watches)
        self._release = UsageRelease(plane, usages, self._parties)

    async def reconcile(self, key: UsageKey) -> bool:
        """Bring a Usage in line; true where a retry may help, since no watch reports what it waits for."""
        usage = self._usages.get(key)
        if usage is None or self._usages.is_released(usage):
            self._watches.settle(key, ())
            return False
        if usage.is_deleted:
            self._watches.settle(key, await self._release.release(usage))
            return False
        try:
            outcome = await self._protect(usage)
        except NotFound:
            if await self._plane.as_controller.get(key.kind, key.name, key.namespace) is not None:
                raise
            return False  # It was removed by force; the watch will report it.
        if not isinstance(outcome, Stalled):
            self._watches.settle(key, outcome)
            return False
        self._plane.recorder.record(usage.obj, Event(WARNING, outcome.reason, outcome.message))
        self._watches.settle(key, outcome.waits)
        return any(isinstance(wait, Served) for wait in outcome.waits)

    async def _protect(self, usage: Usage) -> tuple[Wait, ...] | Stalled:
        resolved = await self._resolve(usage)
        if isinstance(resolved, Stalled):
            return resolved
        using = await self._find_using(resolved)
        owner = using if isinstance(using, dict) else None
        saved = await self._save(usage, _configured(resolved, owner))
        try:
            with self._recording_failure(saved, "GetUsedResource", "cannot get used"):
                kind, used = await self._parties.used(saved)
        except ResourceMissing as problem:
            return Stalled("GetUsedResource", f"cannot get used: {problem}", problem.waits)
        with self._recording_failure(saved, "AddInUseLabel", "cannot add in use label to the used resource"):
            await self._mark(kind, used)
        if isinstance(using, ResourceMissing):
            waits = (InUse(kind), *using.waits)
            return Stalled("GetUsingResource", f"cannot get using: {using}", waits)
        await self._conclude(saved)
        return (InUse(kind),)

    async def _resolve(self, usage: Usage) -> Usage | Stalled:
        """The Usage with its selectors replaced by what they find; what was found is kept in any case."""
        obj = usage.obj
        for role, party in (("of", usage.of), ("by", usage.by)):
            if party is None or party.name:
                continue
            try:
                selected = await self._parties.select(usage, party)
            except ResourceMissing as problem:
                await self._save(usage, obj)
                context = (
                    f'cannot resolve selectors: cannot resolve selector at "spec.{role}.resourceSelector"'
                )
                return Stalled("ResolveSelectors", f"{context}: {problem}", problem.waits)
            reference = selected if role == "of" else {"name": selected["name"]}
            side = {**obj["spec"][role], "resourceRef": reference}
            obj = {**obj, "spec": {**obj["spec"], role: side}}
        return read_usage(usage.kind, obj)

    async def _find_using(self, usage: Usage) -> Object | ResourceMissing | None:
        """The using resource, unless it owns the Usage already: its end would be the Usage's."""
        if usage.by is None or _is_owned_by(usage.obj, usage.by):
            return None
        try:
            with self._recording_failure(usage, "GetUsingResource", "cannot get using"):
                return (await self._parties.find(usage.by))[1]
        except ResourceMissing as problem:
            return problem

    @contextmanager
    def _recording_failure(self, usage: Usage, reason: str, context: str) -> Iterator[None]:
        """Report a failure on the Usage; it is retried all the same."""
        try:
            yield
        except ResourceMissing:
            raise
        except CrossplyError as problem:
            self._plane.recorder.record(usage.obj, Event(WARNING, reason, f"{context}: {problem}"))
            raise

    async def _save(self, usage: Usage, desired: Object) -> Usage:
        """One write for all that changes on the Usage itself: none when nothing does."""
        if desired == usage.obj:
            return usage
        change: Object = {"metadata": {"resourceVersion": usage.obj["metadata"]["resourceVersion"]}}
        for field in ("finalizers", "annotations", "ownerReferences"):
            if desired["metadata"].get(field) != usage.obj["metadata"].get(field):
                change["metadata"][field] = desired["metadata"][field]
        for role in ("of", "by"):
            if desired["spec"].get(role) != usage.obj["spec"].get(role):
                change.setdefault("spec", {})[role] = {"resourceRef": desired["spec"][role]["resourceRef"]}
        key = usage.key
        written = await self._plane.as_controller.patch_merge(
            key.kind, key.name, change, key.namespace, MANAGER
        )
        self._usages.record_write(key.kind, written)
        return read_usage(key.kind, written)

    async def _mark(self, kind: Kind, used: Object) -> None:
        if labels_of(used).get(IN_USE) == "true":
            return
        body = {"metadata": {"uid": uid_of(used), "labels": {IN_USE: "true"}}}
        marked = await self._plane.as_controller.patch_merge(
            kind, name_of(used), body, namespace_of(used), MANAGER
        )
        self._watches.record_write(kind, marked)

    async def _conclude(self, usage: Usage) -> None:
        updated = with_conditions(usage.obj, (AVAILABLE,), self._plane.now())
        if updated["status"] == usage.obj.get("status"):
            return
        version = usage.obj["metadata"]["resourceVersion"]
        body = {"metadata": {"resourceVersion": version}, "status": updated["status"]}
        key = usage.key
        written = await self._plane.as_controller.patch_merge(
            key.kind, key.name, body, key.namespace, MANAGER, subresource="status"
        )
        self._usages.record_write(key.kind, written)
        self._plane.recorder.record(usage.obj, CONFIGURED)


def _configured(usage: Usage, using: Object | None) -> Object:
    """The Usage as it is to be: held back, described, and owned by what uses."""
    metadata = dict(usage.obj["metadata"])
    if FINALIZER not in usage.finalizers:
        metadata["finalizers"] = [*usage.finalizers, FINALIZER]
    annotations = annotations_of(usage.obj)
    if annotations.get(DETAILS) != details_of(usage):
        metadata["annotations"] = {**annotations, DETAILS: details_of(usage)}
    if using is not None:
        owner = owner_reference(using, controller=False)
        metadata["ownerReferences"] = [*(metadata.get("ownerReferences") or ()), owner]
    return {**usage.obj, "metadata": metadata}


def _is_owned_by(obj: Object, party: UsageResource) -> bool:
    for owner in obj["metadata"].get("ownerReferences") or ():
        group = api_group(str(owner.get("apiVersion", "")))
        if (group, owner.get("kind"), owner.get("name")) == (party.group, party.kind, party.name):
            return True
    return False
