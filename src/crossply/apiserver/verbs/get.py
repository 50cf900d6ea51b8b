"""GET of one object."""

from __future__ import annotations

from crossply.apiserver.calls import Call
from crossply.apiserver.conversion import convert_one
from crossply.apiserver.negotiation import negotiate_for
from crossply.apiserver.objects import decode
from crossply.apiserver.query_numbers import read_version
from crossply.apiserver.replies import Reply, reply_object
from crossply.apiserver.status import not_found
from crossply.apiserver.world import World


async def get(world: World, call: Call) -> Reply:
    """The durable state of an object; as stored, where that is what the client wants."""
    form = negotiate_for(call)
    read_version(call)  # any version will do: the newest state is never older
    entry = world.store.get((call.resource.key, call.namespace, call.name))
    if entry is None:
        raise not_found(call.resource.names.plural, call.resource.group, call.name)
    fresh = entry.revision >= call.resource.since
    if fresh and form.is_plain and call.resource.is_stored_at(call.version.name):
        return Reply(200, entry.data)
    obj = await convert_one(world, call.resource, decode(entry.data), call.version.name)
    return await reply_object(world.background, call, 200, obj, form)
