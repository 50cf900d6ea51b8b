"""Resources and subresources that are answered, not stored: reviews, service account tokens, scale."""

from __future__ import annotations

from crossply.apiserver.auth.reviews import RESOURCES, Reviews
from crossply.apiserver.auth.token_requests import TokenRequests
from crossply.apiserver.endpoints.body_decoding import MEDIA_TYPES, read_value
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import Form, negotiate_for
from crossply.apiserver.endpoints.replies import Reply, reply_value
from crossply.apiserver.endpoints.status_errors import not_acceptable
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.verbs.scale import scale


def register(context: ServerContext, reviews: Reviews, tokens: TokenRequests) -> None:

    async def review(context: ServerContext, call: Call) -> Reply:
        form = answer_form(call)
        kind, api_version = call.resource.names.kind, call.resource.api_version(call.version.name)
        body = await context.background.run(call.weight, lambda: read_value(call, kind, api_version))
        answer = await reviews.create(call.resource.key, call.user, call.namespace, body)
        return await reply_value(context.background, 201, answer, form)

    async def token(context: ServerContext, call: Call) -> Reply:
        form = answer_form(call)
        kind, api_version = "TokenRequest", "authentication.k8s.io/v1"
        body = await context.background.run(call.weight, lambda: read_value(call, kind, api_version))
        answer = await tokens.create(call.namespace, call.name, body)
        return await reply_value(context.background, 201, answer, form)

    for key in RESOURCES:
        context.handlers[key, ""] = review
    context.handlers["serviceaccounts", "token"] = token
    context.handlers["*", "scale"] = scale


def answer_form(call: Call) -> Form:
    """The negotiated form; a table or metadata only is refused, because the answer has no metadata."""
    form = negotiate_for(call)
    if form.shape != "object":
        raise not_acceptable(MEDIA_TYPES)
    return form
