"""Connection secrets: a legacy composite resource publishes what was composed, its claim gets a copy.

A secret is written only if its data would change, and only if it is ours to write: controlled by the object
that it is for, or without a controller and of the type that connection secrets have.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from crossply.compose.connection_secret import encode_data, new_secret, refusal_to_write, secret_place
from crossply.compose.object_metadata import controller_of, name_of, namespace_of, owner_reference, uid_of
from crossply.control.controller_context import Plane
from crossply.errors import CrossplyError
from crossply.kube.core_kinds import SECRET
from crossply.values import Object
from crossply.values.timestamps import format_timestamp, parse_timestamp

MANAGER = "crossplane"


class SecretRefused(CrossplyError):
    """A connection secret is controlled by another object, or is missing."""

    code = "CP-802"
    hint = "name another secret in spec.writeConnectionSecretToRef, or delete the one that is there"


class PublishFailed(CrossplyError):
    """The connection details of a composite resource could not be written into its secret."""

    code = "CP-803"


class UnreportedPublications:
    """When details were published, until the status of their owner says so.

    The write of the status may lose to another one. By then nothing is left to publish, but a claim learns of
    new details by the time in the status.
    """

    __slots__ = ("_times",)

    def __init__(self) -> None:
        self._times: dict[str, str] = {}

    def time_to_report(self, owner: Object, published: str | None) -> str | None:
        """The time of this publication, or of the last one that the owner's status does not have."""
        uid = uid_of(owner)
        if published is not None:
            self._times[uid] = published
        elif uid in self._times and _last_published(owner) >= self._times[uid]:
            del self._times[uid]
        return self._times.get(uid)

    def forget(self, uid: str) -> None:
        """The owner is gone."""
        self._times.pop(uid, None)


async def find_secret(plane: Plane, owner: Object) -> Object | None:
    """The connection secret that an object names, if it names one that exists."""
    namespace, name = secret_place(owner)
    return await plane.as_composer.get(SECRET, name, namespace) if name else None


async def publish(plane: Plane, xr: Object, details: Mapping[str, bytes], live: Object | None) -> str | None:
    """Publish a composite resource's connection details; when that was, or None if nothing changed."""
    try:
        if not await _write_details(plane, xr, details, live):
            return None
    except CrossplyError as problem:
        raise PublishFailed(f"cannot publish connection details: {problem}", hint=problem.hint) from problem
    return published_at(xr, plane.now())


async def _write_details(plane: Plane, xr: Object, details: Mapping[str, bytes], live: Object | None) -> bool:
    """Write details into the secret; whether that changed anything.

    Keys are only ever added: what another writer or an earlier Composition put there stays.
    """
    namespace, name = secret_place(xr)
    if not name:
        return False
    data = encode_data(details)
    if live is None:
        await plane.as_composer.create(SECRET, new_secret(xr, namespace, name, data), MANAGER)
        return True
    _check_writable(live, xr)
    stored = live.get("data") or {}
    missing = {key: value for key, value in data.items() if stored.get(key) != value}
    if not missing:
        return False
    body = {"metadata": _controlled(live, xr), "data": missing}
    await plane.as_composer.patch_merge(SECRET, name, body, namespace, MANAGER)
    return True


async def propagate(plane: Plane, xr: Object, claim: Object) -> bool:
    """Copy a composite resource's connection secret to its claim's; whether that changed anything."""
    if not secret_place(xr)[1] or not secret_place(claim)[1]:
        return False
    source = await _source(plane, xr)
    namespace, name = secret_place(claim)
    live, data = await plane.as_composer.get(SECRET, name, namespace), source.get("data") or {}
    if live is None:
        await plane.as_composer.create(SECRET, new_secret(claim, namespace, name, data), MANAGER)
        return True
    _check_writable(live, claim)
    if (live.get("data") or {}) == data:
        return False
    body = {**live, "metadata": {**live["metadata"], **_controlled(live, claim)}, "data": data}
    await plane.as_composer.update(SECRET, body, MANAGER)
    return True


async def withdraw(plane: Plane, claim: Object) -> None:
    """Delete the copy that a claim has; a secret that it does not control stays."""
    secret = await find_secret(plane, claim)
    owner = controller_of(secret) if secret is not None else None
    if secret is None or owner is None or owner.get("uid") != uid_of(claim):
        return
    version = secret["metadata"]["resourceVersion"]
    await plane.as_composer.delete(
        SECRET, name_of(secret), namespace_of(secret), uid=uid_of(secret), resource_version=version
    )


async def _source(plane: Plane, xr: Object) -> Object:
    secret = await find_secret(plane, xr)
    if secret is None:
        name = secret_place(xr)[1]
        raise SecretRefused(
            f'cannot get composite resource\'s connection secret: secrets "{name}" not found',
            hint="the composite resource writes it when it is composed; look at its conditions",
        )
    owner = controller_of(secret)
    if owner is None or owner.get("uid") != uid_of(xr):
        raise SecretRefused("cannot establish control of existing connection secret")
    return secret


def _check_writable(secret: Object, owner: Object) -> None:
    refusal = refusal_to_write(secret, uid_of(owner))
    if refusal:
        raise SecretRefused(f"cannot create or update connection secret: {refusal}")


def _controlled(secret: Object, owner: Object) -> Object:
    """The change of metadata that makes the owner the secret's controller; empty when it is."""
    if controller_of(secret) is not None:
        return {}
    references = secret["metadata"].get("ownerReferences") or []
    return {"ownerReferences": [*references, owner_reference(owner)]}


def published_at(owner: Object, now: str) -> str:
    """The time of a publication, always later than the last one's.

    A claim detects new details by this time, which counts whole seconds: two publications within one must
    differ.
    """
    last = _last_published(owner)
    if last < now:
        return now
    published = parse_timestamp(last)
    return now if published is None else format_timestamp(published + timedelta(seconds=1))


def _last_published(owner: Object) -> str:
    """The time in the owner's status; empty where there is none."""
    status = owner.get("status")
    details = status.get("connectionDetails") if isinstance(status, dict) else None
    last = details.get("lastPublishedTime") if isinstance(details, dict) else None
    return last if isinstance(last, str) else ""
