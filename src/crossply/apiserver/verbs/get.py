"""GET of one object."""

from __future__ import annotations

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import negotiate_for
from crossply.apiserver.endpoints.query_options import read_version
from crossply.apiserver.endpoints.replies import Reply, reply_object
from crossply.apiserver.endpoints.status_errors import not_found
from crossply.apiserver.registry.conversion import convert_one
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.stored_object_codec import decode


async def get(context: ServerContext, call: Call) -> Reply:
    """The durable state of an object; the stored bytes, if they have the negotiated form."""
    form = negotiate_for(call)
    read_version(call)  # any version will do: the newest state is never older
    entry = context.store.get((call.resource.key, call.namespace, call.name))
    if entry is None:
        raise not_found(call.resource.names.plural, call.resource.group, call.name)
    fresh = entry.revision >= call.resource.since
    if fresh and form.is_plain and call.resource.is_stored_at(call.version.name):
        return Reply(200, entry.data)
    obj = await convert_one(context, call.resource, decode(entry.data), call.version.name)
    return await reply_object(context.background, call, 200, obj, form)
