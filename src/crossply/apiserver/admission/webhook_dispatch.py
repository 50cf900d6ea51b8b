"""One webhook and one write: whether it is asked, and what it says."""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass

from crossply.apiserver.admission.admission_review import (
    CallFailed,
    Verdict,
    denial,
    make_review,
    read_review,
    review_version,
)
from crossply.apiserver.admission.attributes import Attributes, internal_failure
from crossply.apiserver.admission.cel_authorizer import Authorize
from crossply.apiserver.admission.cel_evaluation import Evaluation
from crossply.apiserver.admission.match_conditions import ConditionFailed
from crossply.apiserver.admission.namespace_lifecycle import Namespaces
from crossply.apiserver.admission.versions import at_version
from crossply.apiserver.admission.webhook_index import Webhook
from crossply.apiserver.background import in_event_loop
from crossply.apiserver.endpoints.status_errors import StatusError, bad_request, forbidden
from crossply.apiserver.server_context import World
from crossply.apiserver.webhooks.client import WebhookClient
from crossply.values.goquote import quote

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Invocation:
    """A webhook that is asked about a write, whose objects are at the version it wants to see."""

    webhook: Webhook
    version: str
    write: Attributes


class WebhookCalls:
    """Asks webhooks about writes."""

    def __init__(self, world: World, namespaces: Namespaces, authorize: Authorize | None) -> None:
        self._world = world
        self._namespaces = namespaces
        self._authorize = authorize
        self.client = WebhookClient(world.store)

    async def invocation(self, webhook: Webhook, write: Attributes) -> Invocation | None:
        """How a webhook is asked about a write; None: it is not about it."""
        version = webhook.matching.version_for(write, self._namespaces)
        if version is None:
            return None
        seen = await at_version(self._world, write, version)
        if webhook.conditions:
            try:
                if not await self._hold(webhook, seen, version):
                    return None
            except ConditionFailed as problem:
                raise forbidden(write.plural, write.group, write.name, str(problem)) from None
        return Invocation(webhook, version, seen)

    async def _hold(self, webhook: Webhook, seen: Attributes, version: str) -> bool:
        authorize = in_event_loop(self._authorize) if self._authorize is not None else None

        def hold() -> bool:
            return webhook.conditions.hold(Evaluation(seen, version, authorize))

        return await self._world.background.run(seen.call.weight, hold)

    async def ask(self, asked: Invocation, *, mutating: bool) -> Verdict | None:
        """What a webhook says; None when it cannot be asked and that does not matter.

        A refusal is raised, and so is a failure that matters.
        """
        webhook, call = asked.webhook, asked.write.call
        if call.dry_run and not webhook.takes_dry_runs:
            raise bad_request(f"admission webhook {quote(webhook.name)} does not support dry run")
        try:
            verdict = await self._ask(asked, mutating)
        except CallFailed as problem:
            why = f"failed calling webhook {quote(webhook.name)}: {problem}"
            if webhook.ignores_failure:
                _log.warning("%s", why)
                return None
            raise internal_failure(why) from None
        call.warnings += verdict.warnings
        if not verdict.allowed:
            raise self._refusal(webhook, verdict)
        return verdict

    async def _ask(self, asked: Invocation, mutating: bool) -> Verdict:
        webhook, uid = asked.webhook, str(uuid.uuid4())
        version = review_version(webhook.review_versions)
        review = make_review(asked.write, asked.version, version, uid)
        body = await self.client.ask(webhook, review)
        return read_review(body, uid, version, mutating=mutating)

    @staticmethod
    def _refusal(webhook: Webhook, verdict: Verdict) -> StatusError:
        return denial(webhook.name, verdict.status)
