"""The admission chain: namespace checks, mutating webhooks, policies and validating webhooks, in order.

Validating webhooks are called in parallel; the write passes if none denies it.
"""

from __future__ import annotations

import asyncio

from crossply.apiserver.admission.attributes import Attributes
from crossply.apiserver.admission.cel_environment import Authorize
from crossply.apiserver.admission.mutating_webhooks import MutatingWebhooks
from crossply.apiserver.admission.namespace_lifecycle import Namespaces, check_namespace
from crossply.apiserver.admission.policy_index import PolicyIndex
from crossply.apiserver.admission.validating_policies import Policies
from crossply.apiserver.admission.webhook_dispatch import Invocation, WebhookCalls
from crossply.apiserver.admission.webhook_index import MUTATING, VALIDATING, Webhook, WebhookIndex
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.server_context import ServerContext
from crossply.values import Object


class Admission:
    """Admission by the configurations in the store, which it watches until it is closed."""

    def __init__(self, context: ServerContext, authorize: Authorize | None = None) -> None:
        self._namespaces = Namespaces(context.store)
        self._mutating = WebhookIndex(context.store, MUTATING)
        self._validating = WebhookIndex(context.store, VALIDATING)
        self._policies = PolicyIndex(context.store)
        self._calls = WebhookCalls(context, self._namespaces, authorize)
        self._mutate = MutatingWebhooks(context, self._calls)
        self._check = Policies(context, self._namespaces, authorize)

    async def close(self) -> None:
        for index in (self._mutating, self._validating, self._policies):
            index.stop()
        await self._calls.client.close()

    async def mutate(self, call: Call, operation: str, obj: Object, old: Object | None) -> Object:
        """The object after the mutating webhooks."""
        self._check_namespace(call, operation, obj, old)
        if not self._mutating.webhooks:
            return obj
        write = Attributes(call, operation, obj, old)
        if write.is_exempt:
            return obj
        write = await self._mutate.apply(write, self._mutating.webhooks)
        return write.obj or obj

    async def validate(self, call: Call, operation: str, obj: Object | None, old: Object | None) -> None:
        """Refuse the write, or return. Mutating webhooks see deletions here: deletions skip `mutate`."""
        if operation == "DELETE":
            self._check_namespace(call, operation, obj, old)
        if self._mutating.webhooks or self._validating.webhooks or self._policies.bound:
            write = Attributes(call, operation, obj, old)
            if not write.is_exempt:
                await self._validate(write)
        if operation == "CREATE":
            # Admission may have taken a while, and the namespace may be terminating by now.
            self._check_namespace(call, operation, obj, old)

    def _check_namespace(self, call: Call, operation: str, obj: Object | None, old: Object | None) -> None:
        # Fast path: nearly all writes are into active namespaces.
        if call.resource.namespaced and (
            operation == "DELETE" or self._namespaces.is_active(call.info.namespace)
        ):
            return
        check_namespace(self._namespaces, Attributes(call, operation, obj, old))

    async def _validate(self, write: Attributes) -> None:
        if write.operation == "DELETE" and self._mutating.webhooks:
            await self._mutate.apply(write, self._mutating.webhooks)
        if self._policies.bound:
            await self._check.check(write, self._policies.bound)
        if self._validating.webhooks:
            await _call_validating_webhooks(self._calls, write, self._validating.webhooks)


async def _call_validating_webhooks(
    calls: WebhookCalls, write: Attributes, webhooks: tuple[Webhook, ...]
) -> None:
    """Call the webhooks that match a write; raises the StatusError of one that denies it."""
    invocations = [
        invocation
        for webhook in webhooks
        if (invocation := await calls.invocation(webhook, write)) is not None
    ]
    if len(invocations) == 1:
        await calls.call(invocations[0], mutating=False)
    elif invocations:
        await _call_in_parallel(calls, invocations)


async def _call_in_parallel(calls: WebhookCalls, invocations: list[Invocation]) -> None:
    # All calls are awaited, so that a denial does not cancel another webhook in the middle of its work.
    outcomes = await asyncio.gather(
        *(calls.call(invocation, mutating=False) for invocation in invocations), return_exceptions=True
    )
    for outcome in outcomes:
        if isinstance(outcome, StatusError):
            raise outcome
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
