"""May this resource be deleted? The answer to API servers, which ask for all that is marked as in use.

Only deletions of marked resources come here. A Usage is found in the watch caches; before a deletion is
allowed the API server is asked, because a watch may be behind and a deletion cannot be taken back.
"""

from __future__ import annotations

import logging

from crossply.compose.object_metadata import annotations_of, name_of, namespace_of, uid_of
from crossply.control.controller_context import Plane
from crossply.control.usages.usage_index import Usages
from crossply.control.usages.usage_model import DELETION_ATTEMPT, REFUSED_BY, Usage
from crossply.errors import CrossplyError
from crossply.kube.failures import Conflict, NotFound
from crossply.values import Object
from crossply.values.api_version import api_group
from crossply.values.goquote import quote

MANAGER = "crossplane"
_log = logging.getLogger("crossply.usage")

_MOST_NOTED = 1000
"""How many Usages are noted with a deletion that they refused."""


class UsageReview:
    """Answers admission reviews."""

    def __init__(self, plane: Plane, usages: Usages) -> None:
        self._plane = plane
        self._usages = usages

    async def review(self, request: Object) -> Object:
        """The response to the request of an AdmissionReview."""
        operation = str(request.get("operation") or "")
        if operation != "DELETE":
            return _refused(
                request, 400, message=f'unexpected operation {quote(operation)}, expected "DELETE"'
            )
        obj = request.get("oldObject")
        if not isinstance(obj, dict) or not name_of(obj):
            return _refused(request, 400, message="there is no old object in the review")
        try:
            return await self._review(request, obj)
        except (CrossplyError, Conflict) as problem:
            return _refused(request, 500, message=str(problem))

    async def _review(self, request: Object, obj: Object) -> Object:
        group = api_group(str(obj.get("apiVersion", "")))
        address = (group, str(obj.get("kind", "")), namespace_of(obj), name_of(obj))
        usages = self._usages.of(*address) or await self._usages.of_now(*address)
        if not usages:
            return {"uid": request.get("uid", ""), "allowed": True}
        if request.get("dryRun") is not True:
            await self._note_attempt(obj, request.get("options") or {}, usages)
        reason = in_use_message(usages)
        _log.info("deletion of %s %s refused: %s", address[1], "/".join(filter(None, address[2:])), reason)
        return _refused(request, 409, reason=reason, message=f"{reason} {next_step(usages[0])}")

    async def _note_attempt(self, obj: Object, options: Object, usages: list[Usage]) -> None:
        """Keep how the deletion was meant, for a Usage that makes up for it in the end."""
        policy = str(options.get("propagationPolicy") or "Background")
        refused_by = ",".join(sorted(usage.uid for usage in usages)[:_MOST_NOTED])
        attempt = {DELETION_ATTEMPT: policy, REFUSED_BY: refused_by}
        if attempt.items() <= annotations_of(obj).items():
            return
        kind = await self._plane.discovery.kind_for(obj["apiVersion"], obj["kind"])
        # The uid makes it fail for another object of the same name.
        body = {"metadata": {"uid": uid_of(obj), "annotations": attempt}}
        try:
            await self._plane.as_controller.patch_merge(kind, name_of(obj), body, namespace_of(obj), MANAGER)
        except NotFound:
            return


def in_use_message(usages: list[Usage]) -> str:
    """The sentence that people know from Crossplane."""
    first = usages[0]
    key = first.key
    user = f'*v1beta1.{key.kind.kind} "{key.name}"'
    if key.namespace:
        user += f' (in namespace "{key.namespace}")'
    message = f"This resource is in-use by {len(usages)} usage(s), including the {user}"
    if first.by is not None:
        return f"{message} by resource {first.by.shown}."
    return f"{message} with reason: {quote(first.reason)}." if first.reason else f"{message}."


def next_step(usage: Usage) -> str:
    """What to do about it, in plain words."""
    key = usage.key
    namespace = f" -n {key.namespace}" if key.namespace else ""
    end = f"kubectl delete {key.kind.resource} {key.name}{namespace}"
    if usage.by is None:
        return f"To delete it all the same, end the protection first: {end}"
    why = f"It is used because: {quote(usage.reason)}. " if usage.reason else ""
    return f"{why}Delete {usage.by.shown} first, or end the protection: {end}"


def _refused(request: Object, code: int, *, message: str, reason: str = "") -> Object:
    status: Object = {"code": code, "message": message}
    if reason:
        status["reason"] = reason
    return {"uid": request.get("uid", ""), "allowed": False, "status": status}
