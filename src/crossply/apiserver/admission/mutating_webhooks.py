"""Calls mutating webhooks one after the other; each sees the changes of those before it.

When a webhook changes the object, earlier ones with `reinvocationPolicy: IfNeeded` are called once more.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from crossply.apiserver.admission.admission_review import AdmissionResponse
from crossply.apiserver.admission.attributes import Attributes, from_version, internal_failure
from crossply.apiserver.admission.webhook_dispatch import Invocation, WebhookCalls
from crossply.apiserver.admission.webhook_index import Webhook
from crossply.apiserver.builtin import decode_problem
from crossply.apiserver.endpoints.body_decoding import check_depth
from crossply.apiserver.patches.json_patch import JsonPatchError, json_patch
from crossply.apiserver.registry.defaulting_and_pruning import with_defaults
from crossply.apiserver.server_context import ServerContext
from crossply.values import Object
from crossply.values.goquote import quote

_SERVER_SET = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "resourceVersion",
    "namespace",
)

_SET_ON_CREATE = ("uid", "creationTimestamp", "generation")


@dataclass(slots=True)
class _Reinvocation:
    """Which webhooks are called once more."""

    called: list[Webhook] = field(default_factory=list)
    pending: set[int] = field(default_factory=set)

    def note(self, webhook: Webhook, changed: bool) -> None:
        """Note that a webhook was called, and whether it changed the object."""
        if changed:
            self.pending |= {id(earlier) for earlier in self.called}
        if webhook.reinvoked:
            self.called.append(webhook)


class MutatingWebhooks:
    def __init__(self, context: ServerContext, calls: WebhookCalls) -> None:
        self._context = context
        self._calls = calls

    async def apply(self, write: Attributes, webhooks: tuple[Webhook, ...]) -> Attributes:
        """The write after all webhooks; raises the StatusError of one that denies it."""
        original = write.obj
        if write.operation == "CREATE" and original is not None:
            # The object may never get the identity that it has now, so no webhook sees it.
            write = write.with_objects(_without_identity(original), None)
        write = await self._apply(write, webhooks)
        if original is None or write.obj is None:
            return write
        return write.with_objects(_with_identity(write.obj, original), write.old)

    async def _apply(self, write: Attributes, webhooks: tuple[Webhook, ...]) -> Attributes:
        reinvocation = _Reinvocation()
        for webhook in webhooks:
            write = await self._pass(webhook, write, reinvocation)
        pending = reinvocation.pending
        for webhook in webhooks:
            if id(webhook) in pending:
                write = await self._pass(webhook, write, _Reinvocation())
        return write

    async def _pass(self, webhook: Webhook, write: Attributes, reinvocation: _Reinvocation) -> Attributes:
        invocation = await self._calls.invocation(webhook, write)
        if invocation is None:
            return write
        response = await self._calls.call(invocation, mutating=True)
        changed = await self._patched(write, invocation, response)
        reinvocation.note(webhook, changed is not write)
        return changed

    async def _patched(
        self, write: Attributes, invocation: Invocation, response: AdmissionResponse | None
    ) -> Attributes:
        if response is None or not response.patch:
            return write
        before = invocation.write.obj
        if before is None or write.obj is None:
            raise internal_failure(
                f"admission webhook {quote(invocation.webhook.name)} attempted to modify the object, "
                "which is not supported for this operation"
            )
        after = self._shaped(invocation, _patch(before, response))
        if after == before:
            return write
        return write.with_objects(await from_version(self._context, write, after), write.old)

    def _shaped(self, invocation: Invocation, patched: Object) -> Object:
        """A patched object, normalized, with the metadata that only the server sets."""
        resource, before = invocation.write.call.resource, invocation.write.obj or {}
        if patched.get("kind") != before.get("kind") or patched.get("kind") != resource.names.kind:
            return patched
        if not resource.custom:
            problem = decode_problem(resource, invocation.version, patched)
            if problem is not None:
                raise internal_failure(problem)
        return with_defaults(resource, resource.versions[invocation.version], _with_identity(patched, before))


def _without_identity(obj: Object) -> Object:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _SET_ON_CREATE}
    return {**obj, "metadata": metadata}


def _with_identity(obj: Object, before: Object) -> Object:
    """The object with the metadata that only the server sets restored."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _SERVER_SET}
    metadata.update({key: before["metadata"][key] for key in _SERVER_SET if key in before["metadata"]})
    return {**obj, "metadata": metadata}


def _patch(before: Object, response: AdmissionResponse) -> Object:
    try:
        patched = json_patch(before, response.patch)
    except JsonPatchError as problem:
        raise internal_failure(str(problem)) from None
    if not isinstance(patched, dict) or not isinstance(patched.get("metadata"), dict):
        raise internal_failure("the patch of a webhook makes the object no object")
    check_depth(patched)
    return patched
