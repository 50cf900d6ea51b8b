"""The end of a Usage: the mark goes from the used resource, and a deletion that was refused is made up for.

The order makes it safe to be killed at any point: first the mark, then the deletion, which is not refused
any more, and the finalizer last. The next reconcile finds the Usage still there and does the rest.
"""

from __future__ import annotations

import contextlib
import logging

from crossply.compose.events import NORMAL, WARNING, Event
from crossply.compose.object_metadata import annotations_of, labels_of, name_of, namespace_of, uid_of
from crossply.control.controller_context import Plane
from crossply.control.usages.usage_index import Usages
from crossply.control.usages.usage_model import DELETION_ATTEMPT, FINALIZER, IN_USE, REFUSED_BY, Usage
from crossply.control.usages.usage_watches import Presence, Wait
from crossply.control.usages.used_resources import ResourceMissing, UsedResources
from crossply.kube.failures import Conflict, Denied, Forbidden, Invalid, NotFound
from crossply.kube.finalizers import remove_finalizer
from crossply.kube.kind import Kind
from crossply.values import Object

MANAGER = "crossplane"
_POLICIES = ("Background", "Foreground", "Orphan")
_log = logging.getLogger("crossply.usage")


class UsageRelease:
    """Lets Usages go."""

    def __init__(self, plane: Plane, usages: Usages, parties: UsedResources) -> None:
        self._plane = plane
        self._usages = usages
        self._parties = parties

    async def release(self, usage: Usage) -> tuple[Wait, ...]:
        """Undo what a Usage did, or say what it waits for."""
        if FINALIZER not in usage.finalizers:
            return ()
        wait = await self._using_that_is_left(usage)
        if wait is not None:
            return (wait,)
        used = await self._find_used(usage)
        if used is None:
            await self._remove_finalizer(usage)
            return ()
        address = (usage.of.group, usage.of.kind, namespace_of(used[1]), usage.of.name)
        if any(other.uid != usage.uid for other in self._usages.of(*address)):
            await self._remove_finalizer(usage)
            # The others may go at the same time, each leaving the mark to the rest. The last one sees
            # that nobody is left.
            if not await self._usages.of_now(*address):
                await self._free(usage, *used)
        else:
            await self._free(usage, *used)
            await self._remove_finalizer(usage)
        return ()

    async def _find_used(self, usage: Usage) -> tuple[Kind, Object] | None:
        try:
            return await self._parties.used_now(usage) if usage.of.name else None
        except ResourceMissing:
            return None

    async def _using_that_is_left(self, usage: Usage) -> Presence | None:
        """Composed together with what uses, a Usage is deleted together with it, and must outlast it."""
        if usage.by is None or not usage.by.name or not usage.is_composed:
            return None
        try:
            kind, using = await self._parties.find(usage.by)
        except ResourceMissing:
            return None
        message = (
            f'Waiting for the using resource (which is a "{usage.by.kind}" named "{usage.by.name}") '
            "to be deleted."
        )
        self._plane.recorder.record(usage.obj, Event(NORMAL, "WaitingUsingDeleted", message))
        return Presence(kind, namespace_of(using), name_of(using), present=False)

    async def _free(self, usage: Usage, kind: Kind, used: Object) -> None:
        """Allow the deletion of the used resource, and replay one that was refused."""
        annotations = annotations_of(used)
        policy = annotations.get(DELETION_ATTEMPT, "")
        # What noted the attempt before there was this annotation does not say who refused it.
        refused = annotations.get(REFUSED_BY, usage.uid).split(",")
        if usage.replays_deletion and policy in _POLICIES and usage.uid in refused:
            # The attempt stays noted until it is made up for: we may die in between.
            if IN_USE in labels_of(used):
                await self._unmark(kind, used, {})
            await self._replay(usage, kind, used, policy)
        elif IN_USE in labels_of(used) or policy:
            # One that stays would be made up for by a Usage that never refused it.
            await self._unmark(kind, used, {DELETION_ATTEMPT: None, REFUSED_BY: None})

    async def _unmark(self, kind: Kind, used: Object, annotations: Object) -> None:
        body = {"metadata": {"uid": uid_of(used), "labels": {IN_USE: None}, "annotations": annotations}}
        with contextlib.suppress(NotFound):
            await self._plane.as_controller.patch_merge(
                kind, name_of(used), body, namespace_of(used), MANAGER
            )

    async def _replay(self, usage: Usage, kind: Kind, used: Object, policy: str) -> None:
        """Replay the deletion that was refused, with its options."""
        _log.info("deleting %s %s, as was tried while it was in use", kind.kind, name_of(used))
        try:
            await self._plane.as_controller.delete(
                kind, name_of(used), namespace_of(used), policy, uid=uid_of(used)
            )
        except (Conflict, Denied, Forbidden, Invalid) as problem:
            # Another webhook refuses, or it is another object by now; the Usage does not decide that.
            message = f"cannot delete used resource again: {problem}"
            self._plane.recorder.record(usage.obj, Event(WARNING, "ReplayDeletion", message))
        except NotFound:
            return

    async def _remove_finalizer(self, usage: Usage) -> None:
        with contextlib.suppress(NotFound):
            await remove_finalizer(self._plane.as_controller, usage.kind, usage.obj, FINALIZER, MANAGER)
        self._usages.release(usage)
