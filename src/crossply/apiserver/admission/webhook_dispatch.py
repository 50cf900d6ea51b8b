"""Calls one webhook about one write, if it matches."""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass

from crossply.apiserver.admission.admission_review import (
    AdmissionResponse,
    CallFailed,
    denial,
    make_review,
    read_review,
    review_version,
)
from crossply.apiserver.admission.attributes import Attributes, at_version, internal_failure
from crossply.apiserver.admission.cel_environment import Authorize
from crossply.apiserver.admission.cel_evaluation import ConditionFailed, Evaluation
from crossply.apiserver.admission.namespace_lifecycle import Namespaces
from crossply.apiserver.admission.webhook_index import Webhook
from crossply.apiserver.endpoints.status_errors import StatusError, bad_request, forbidden
from crossply.apiserver.event_loop_offloading import in_event_loop
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.webhooks.client import WebhookCallError, WebhookClient, WebhookConfigError
from crossply.apiserver.webhooks.service_resolution import stored_services
from crossply.values.goquote import quote

LARGEST_RESPONSE = 3 << 20
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Invocation:
    """A call of a webhook, with the objects at the version that it matched."""

    webhook: Webhook
    version: str
    write: Attributes


class WebhookCalls:
    def __init__(self, context: ServerContext, namespaces: Namespaces, authorize: Authorize | None) -> None:
        self._context = context
        self._namespaces = namespaces
        self._authorize = authorize
        self.client = WebhookClient(
            stored_services(context.store), purpose="admission", largest_response=LARGEST_RESPONSE
        )

    async def invocation(self, webhook: Webhook, write: Attributes) -> Invocation | None:
        """The call of a webhook about a write, or None if it does not match."""
        version = webhook.matching.version_for(write, self._namespaces)
        if version is None:
            return None
        converted = await at_version(self._context, write, version)
        if webhook.conditions:
            try:
                if not await self._conditions_match(webhook, converted, version):
                    return None
            except ConditionFailed as problem:
                raise forbidden(write.plural, write.group, write.name, str(problem)) from None
        return Invocation(webhook, version, converted)

    async def _conditions_match(self, webhook: Webhook, write: Attributes, version: str) -> bool:
        authorize = in_event_loop(self._authorize) if self._authorize is not None else None

        def all_true() -> bool:
            return webhook.conditions.match(Evaluation(write, version, authorize))

        return await self._context.background.run(write.call.weight, all_true)

    async def call(self, invocation: Invocation, *, mutating: bool) -> AdmissionResponse | None:
        """The response of a webhook; None if the call failed and its failure policy is Ignore.

        Raises the StatusError of a denial, or of a failure that counts.
        """
        webhook, request = invocation.webhook, invocation.write.call
        if request.dry_run and not webhook.takes_dry_runs:
            raise bad_request(f"admission webhook {quote(webhook.name)} does not support dry run")
        try:
            response = await self._call(invocation, mutating)
        except CallFailed as problem:
            why = f"failed calling webhook {quote(webhook.name)}: {problem}"
            if webhook.ignores_failure:
                _log.warning("%s", why)
                return None
            raise internal_failure(why) from None
        request.warnings += response.warnings
        if not response.allowed:
            raise self._refusal(webhook, response)
        return response

    async def _call(self, invocation: Invocation, mutating: bool) -> AdmissionResponse:
        webhook, uid = invocation.webhook, str(uuid.uuid4())
        version = review_version(webhook.review_versions)
        review = make_review(invocation.write, invocation.version, version, uid)
        try:
            body = await self.client.post(webhook.client, review, webhook.timeout)
        except WebhookConfigError as problem:
            raise CallFailed(f"could not get REST client: {problem}") from None
        except WebhookCallError as problem:
            raise CallFailed(f"failed to call webhook: {problem}") from None
        return read_review(body, uid, version, mutating=mutating)

    @staticmethod
    def _refusal(webhook: Webhook, response: AdmissionResponse) -> StatusError:
        return denial(webhook.name, response.status)
