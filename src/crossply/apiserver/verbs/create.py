"""POST of a new object."""

from __future__ import annotations

from crossply.apiserver.endpoints.body_decoding import read_body
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import negotiate_for
from crossply.apiserver.endpoints.normalization import shape
from crossply.apiserver.endpoints.replies import Reply, reply_object
from crossply.apiserver.options import check_write_options
from crossply.apiserver.registry.update import create as create_object
from crossply.apiserver.server_context import World


async def create(world: World, call: Call) -> Reply:
    """Store a new object and answer with it."""
    form = negotiate_for(call)
    check_write_options(call)
    obj = await world.background.run(call.weight, lambda: shape(call, read_body(call)))
    return await reply_object(world.background, call, 201, await create_object(world, call, obj), form)
