"""Mutating webhooks: asked one after the other, each sees what those before it made of the object.

When a webhook changed the object, those that were asked before it and wish so are asked once more.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from crossply.apiserver.admission.admission_review import Verdict
from crossply.apiserver.admission.attributes import Attributes, internal_failure
from crossply.apiserver.admission.versions import from_version
from crossply.apiserver.admission.webhook_dispatch import Invocation, WebhookCalls
from crossply.apiserver.admission.webhook_index import Webhook
from crossply.apiserver.builtin import decode_problem
from crossply.apiserver.endpoints.body_decoding import check_depth
from crossply.apiserver.endpoints.normalization import with_defaults
from crossply.apiserver.patches.json_patch import JsonPatchError, json_patch
from crossply.apiserver.server_context import World
from crossply.values import Object
from crossply.values.goquote import quote

_SERVERS_OWN = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "resourceVersion",
    "namespace",
)

_GIVEN_AT_BIRTH = ("uid", "creationTimestamp", "generation")


@dataclass(slots=True)
class _Reinvocation:
    """Which webhooks are asked once more."""

    asked: list[Webhook] = field(default_factory=list)
    due: set[int] = field(default_factory=set)

    def note(self, webhook: Webhook, changed: bool) -> None:
        """A webhook was asked, and changed the object or not."""
        if changed:
            self.due |= {id(each) for each in self.asked}
        if webhook.reinvoked:
            self.asked.append(webhook)


class MutatingWebhooks:
    """What the mutating webhooks make of an object."""

    def __init__(self, world: World, calls: WebhookCalls) -> None:
        self._world = world
        self._calls = calls

    async def apply(self, write: Attributes, webhooks: tuple[Webhook, ...]) -> Attributes:
        """The write as the webhooks want it; raises the refusal of one."""
        given = write.obj
        if write.operation == "CREATE" and given is not None:
            # Nobody is told of an identity that the object may never get.
            write = write.with_objects(_unborn(given), None)
        write = await self._apply(write, webhooks)
        if given is None or write.obj is None:
            return write
        return write.with_objects(_with_identity(write.obj, given), write.old)

    async def _apply(self, write: Attributes, webhooks: tuple[Webhook, ...]) -> Attributes:
        again = _Reinvocation()
        for webhook in webhooks:
            write = await self._pass(webhook, write, again)
        due = again.due
        for webhook in webhooks:
            if id(webhook) in due:
                write = await self._pass(webhook, write, _Reinvocation())
        return write

    async def _pass(self, webhook: Webhook, write: Attributes, again: _Reinvocation) -> Attributes:
        asked = await self._calls.invocation(webhook, write)
        if asked is None:
            return write
        verdict = await self._calls.ask(asked, mutating=True)
        changed = await self._patched(write, asked, verdict)
        again.note(webhook, changed is not write)
        return changed

    async def _patched(self, write: Attributes, asked: Invocation, verdict: Verdict | None) -> Attributes:
        if verdict is None or not verdict.patch:
            return write
        before = asked.write.obj
        if before is None or write.obj is None:
            raise internal_failure(
                f"admission webhook {quote(asked.webhook.name)} attempted to modify the object, which is not "
                "supported for this operation"
            )
        after = self._shaped(asked, _patch(before, verdict))
        if after == before:
            return write
        return write.with_objects(await from_version(self._world, write, after), write.old)

    def _shaped(self, asked: Invocation, patched: Object) -> Object:
        """A patched object in the shape of its kind, with all that only the server decides."""
        resource, before = asked.write.call.resource, asked.write.obj or {}
        if patched.get("kind") != before.get("kind") or patched.get("kind") != resource.names.kind:
            return patched
        if not resource.custom:
            problem = decode_problem(resource, asked.version, patched)
            if problem is not None:
                raise internal_failure(problem)
        return with_defaults(resource, resource.versions[asked.version], _with_identity(patched, before))


def _unborn(obj: Object) -> Object:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _GIVEN_AT_BIRTH}
    return {**obj, "metadata": metadata}


def _with_identity(obj: Object, before: Object) -> Object:
    """The object with what only the server decides as it was before."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _SERVERS_OWN}
    metadata.update({key: before["metadata"][key] for key in _SERVERS_OWN if key in before["metadata"]})
    return {**obj, "metadata": metadata}


def _patch(before: Object, verdict: Verdict) -> Object:
    try:
        patched = json_patch(before, verdict.patch)
    except JsonPatchError as problem:
        raise internal_failure(str(problem)) from None
    if not isinstance(patched, dict) or not isinstance(patched.get("metadata"), dict):
        raise internal_failure("the patch of a webhook makes the object no object")
    check_depth(patched)
    return patched
