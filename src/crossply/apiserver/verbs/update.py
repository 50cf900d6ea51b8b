"""PUT of an object, or of its status."""

from __future__ import annotations

from crossply.apiserver.endpoints.body_decoding import read_body
from crossply.apiserver.endpoints.body_identity import check_address
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import negotiate_for
from crossply.apiserver.endpoints.query_options import check_write_options
from crossply.apiserver.endpoints.replies import Reply, reply_object
from crossply.apiserver.endpoints.status_errors import conflict
from crossply.apiserver.registry.defaulting_and_pruning import normalize
from crossply.apiserver.registry.update import create_or_update
from crossply.apiserver.registry.update import update as update_object
from crossply.apiserver.server_context import ServerContext
from crossply.values import Object


async def update(context: ServerContext, call: Call) -> Reply:
    form = negotiate_for(call)
    check_write_options(call)
    obj = await context.background.run(call.weight, lambda: normalize(call, read_body(call)))
    check_address(call, obj)
    strategy = context.strategy(call.resource, call.version)

    def make() -> Object:
        _check_uid(call, {"metadata": {}}, obj)
        return obj

    def change(old: Object) -> Object:
        _check_uid(call, old, obj)
        return obj

    if call.info.subresource or not strategy.allows_create_on_update:
        return await reply_object(
            context.background, call, 200, await update_object(context, call, call.name, change), form
        )
    written, created = await create_or_update(context, call, make, change)
    return await reply_object(context.background, call, 201 if created else 200, written, form)


def _check_uid(call: Call, old: Object, obj: Object) -> None:
    """Refuse a body with the UID of another object, such as an earlier one of the same name."""
    expected, present = obj["metadata"].get("uid"), old["metadata"].get("uid", "")
    if expected and expected != present:
        group = f"{call.resource.group}/" if call.resource.custom else ""
        plural, namespace = call.resource.names.plural, f"{call.namespace}/" if call.namespace else ""
        why = (
            f"StorageError: invalid object, Code: 4, Key: /registry/{group}{plural}/{namespace}{call.name}, "
            f"ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {expected}, "
            f"UID in object meta: {present}"
        )
        raise conflict(plural, call.resource.group, call.name, why)
