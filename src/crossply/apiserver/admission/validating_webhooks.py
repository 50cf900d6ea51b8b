"""Calls validating webhooks in parallel; the write passes if none denies it."""

from __future__ import annotations

import asyncio

from crossply.apiserver.admission.attributes import Attributes
from crossply.apiserver.admission.webhook_dispatch import Invocation, WebhookCalls
from crossply.apiserver.admission.webhook_index import Webhook
from crossply.apiserver.endpoints.status_errors import StatusError


async def validate(calls: WebhookCalls, write: Attributes, webhooks: tuple[Webhook, ...]) -> None:
    """Call the webhooks that match a write; raises the StatusError of one that denies it."""
    invocations = [
        invocation
        for webhook in webhooks
        if (invocation := await calls.invocation(webhook, write)) is not None
    ]
    if len(invocations) == 1:
        await calls.call(invocations[0], mutating=False)
    elif invocations:
        await _call_all(calls, invocations)


async def _call_all(calls: WebhookCalls, invocations: list[Invocation]) -> None:
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
