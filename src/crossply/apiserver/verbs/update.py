"""PUT of a whole object, or of its status."""

from __future__ import annotations

from crossply.apiserver.addresses import check_address
from crossply.apiserver.endpoints.body_decoding import read_body
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import negotiate_for
from crossply.apiserver.endpoints.normalization import shape
from crossply.apiserver.endpoints.replies import Reply, reply_object
from crossply.apiserver.endpoints.status_errors import conflict
from crossply.apiserver.options import check_write_options
from crossply.apiserver.registry.update import create_or_update
from crossply.apiserver.registry.update import update as update_object
from crossply.apiserver.server_context import World
from crossply.values import Object


async def update(world: World, call: Call) -> Reply:
    """Replace an object."""
    form = negotiate_for(call)
    check_write_options(call)
    obj = await world.background.run(call.weight, lambda: shape(call, read_body(call)))
    check_address(call, obj)
    strategy = world.strategy(call.resource, call.version)

    def make() -> Object:
        _check_uid(call, {"metadata": {}}, obj)
        return obj

    def change(old: Object) -> Object:
        _check_uid(call, old, obj)
        return obj

    if call.info.subresource or not strategy.creates_on_update:
        return await reply_object(
            world.background, call, 200, await update_object(world, call, call.name, change), form
        )
    written, created = await create_or_update(world, call, make, change)
    return await reply_object(world.background, call, 201 if created else 200, written, form)


def _check_uid(call: Call, old: Object, obj: Object) -> None:
    """The object in the body must be the one that is replaced, not an earlier one of the same name."""
    given, present = obj["metadata"].get("uid"), old["metadata"].get("uid", "")
    if given and given != present:
        group = f"{call.resource.group}/" if call.resource.custom else ""
        plural, namespace = call.resource.names.plural, f"{call.namespace}/" if call.namespace else ""
        why = (
            f"StorageError: invalid object, Code: 4, Key: /registry/{group}{plural}/{namespace}{call.name}, "
            f"ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {given}, "
            f"UID in object meta: {present}"
        )
        raise conflict(plural, call.resource.group, call.name, why)
