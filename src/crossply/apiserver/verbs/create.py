"""POST of a new object."""

from __future__ import annotations

from crossply.apiserver.endpoints.body_decoding import read_body
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import negotiate_for
from crossply.apiserver.endpoints.query_options import check_write_options
from crossply.apiserver.endpoints.replies import Reply, reply_object
from crossply.apiserver.registry.create import create as create_object
from crossply.apiserver.registry.defaulting_and_pruning import normalize
from crossply.apiserver.server_context import ServerContext


async def create(context: ServerContext, call: Call) -> Reply:
    form = negotiate_for(call)
    check_write_options(call)
    obj = await context.background.run(call.weight, lambda: normalize(call, read_body(call)))
    return await reply_object(context.background, call, 201, await create_object(context, call, obj), form)
