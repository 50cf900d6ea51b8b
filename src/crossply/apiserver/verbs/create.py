"""POST of a new object."""

from __future__ import annotations

from crossply.apiserver.calls import Call
from crossply.apiserver.lifecycle import create as create_object
from crossply.apiserver.negotiation import negotiate_for
from crossply.apiserver.objects import read_body
from crossply.apiserver.options import check_write_options
from crossply.apiserver.replies import Reply, reply_object
from crossply.apiserver.shape import shape
from crossply.apiserver.world import World


async def create(world: World, call: Call) -> Reply:
    """Store a new object and answer with it."""
    form = negotiate_for(call)
    check_write_options(call)
    obj = await world.background.run(call.weight, lambda: shape(call, read_body(call)))
    return await reply_object(world.background, call, 201, await create_object(world, call, obj), form)
