"""DELETE of one object, or of all selected objects."""

from __future__ import annotations

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.delete_options import DeleteOptions, read_delete_options
from crossply.apiserver.endpoints.negotiation import negotiate_for
from crossply.apiserver.endpoints.replies import Reply, reply_object
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.delete import delete as delete_object
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.verbs.list import reply_list, select


async def delete(context: ServerContext, call: Call) -> Reply:
    form = negotiate_for(call)
    answer, _ = await delete_object(context, call, call.name, await _options(context, call))
    return await reply_object(context.background, call, 200, answer, form)


async def delete_collection(context: ServerContext, call: Call) -> Reply:
    """Delete every selected object; one that somebody else deletes meanwhile counts as deleted."""
    form = negotiate_for(call)
    options = await _options(context, call)
    selected = await select(context, call)
    for obj in selected.objects:
        metadata = obj["metadata"]
        object_call = _about(call, metadata.get("namespace", ""), metadata["name"])
        try:
            await delete_object(context, object_call, metadata["name"], options)
        except StatusError as problem:
            if problem.status != 404:
                raise
    return await reply_list(context, call, selected, form)


async def _options(context: ServerContext, call: Call) -> DeleteOptions:
    return await context.background.run(call.weight, lambda: read_delete_options(call))


def _about(call: Call, namespace: str, name: str) -> Call:
    """The same call about one object, in any namespace."""
    from dataclasses import replace

    return replace(call, info=replace(call.info, namespace=namespace, name=name))
