"""Validating webhooks: asked side by side; the write passes when none refuses it."""

from __future__ import annotations

import asyncio

from crossply.apiserver.admission.attributes import Attributes
from crossply.apiserver.admission.webhook_dispatch import Invocation, WebhookCalls
from crossply.apiserver.admission.webhook_index import Webhook
from crossply.apiserver.endpoints.status_errors import StatusError


async def validate(calls: WebhookCalls, write: Attributes, webhooks: tuple[Webhook, ...]) -> None:
    """Let the webhooks that a write concerns look at it; raises the refusal of one."""
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
    # All are waited for, so that a refusal does not cut off another webhook in the middle of its work.
    outcomes = await asyncio.gather(
        *(calls.call(invocation, mutating=False) for invocation in invocations), return_exceptions=True
    )
    for outcome in outcomes:
        if isinstance(outcome, StatusError):
            raise outcome
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
