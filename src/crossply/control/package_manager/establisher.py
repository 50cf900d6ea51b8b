"""Bringing what a package holds into being, and letting it go.

Everything is tried first: where one object cannot be written, none is. Only the active revision of a package
creates anything. An object that is as it should be costs no write.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import orjson

from crossply.compose.object_metadata import annotations_of, labels_of, name_of, uid_of
from crossply.control.apply_digests import contains
from crossply.control.calls.function_revision_runtime import PACKAGE
from crossply.control.controller_context import Plane
from crossply.control.definitions.core_crds import core_names
from crossply.control.definitions.protected_crds import check_definable
from crossply.control.kinds import MANAGED_DEFINITION
from crossply.control.managed_definitions.definition_informer import spec_digest
from crossply.control.managed_fields_noop_check import is_applied
from crossply.control.package_manager.managed_definitions import (
    Conversion,
    is_same_definition,
    with_live_state,
)
from crossply.control.package_manager.owner_references import (
    AlreadyControlled,
    is_revision_of,
    owners,
    released,
    without_owner,
)
from crossply.control.package_manager.provider_webhooks import call_back, pointed_home
from crossply.errors import CrossplyError
from crossply.kube.controller import Waiting
from crossply.kube.core_kinds import CRD, SECRET
from crossply.kube.discovery import UnknownKind
from crossply.kube.kind import Kind
from crossply.values import Object

MANAGER = "pkg.crossplane.io/revisions"
AT_ONCE = 10
_IMPORTANT = ("name", "uid", "generation", "resourceVersion", "ownerReferences")
_FINGERPRINT = "fingerprint"
_BRING_KINDS = (CRD.kind, MANAGED_DEFINITION.kind)
_DROPPED = ("creationTimestamp", "resourceVersion", "uid", "generation", "managedFields", "ownerReferences")

Fingerprints = dict[tuple[str, str], int | str]
"""The generation or a digest of each object, by kind and name, to detect changes."""

T = TypeVar("T")
R = TypeVar("R")


class _DesiredObject(NamedTuple):
    """An object as it is to be, encoded, and what of it is there."""

    kind: Kind
    data: bytes
    live: Object | None
    """Only its metadata that matters."""
    is_there: bool
    """Whether there is nothing to write."""
    references: list[Object]
    """Who is to own it."""


class NoCertificate(CrossplyError):
    """A Provider has webhooks, and its runtime has not made a certificate for them yet."""

    code = "CP-854"
    hint = "check the runtime of the revision: its condition RuntimeHealthy shows the progress"


class Established(NamedTuple):
    """What of a package is there now."""

    references: list[Object]
    """As the status of a revision lists them."""
    fingerprints: Fingerprints
    left_out: list[str]
    """The kinds and names of objects that cannot exist, since their kind is not served."""
    calls_back: bool = False
    """Whether some of it calls the Provider, by a certificate that is renewed now and then."""


class Establisher:
    """Writes the objects of packages."""

    def __init__(self, plane: Plane, namespace: str) -> None:
        self._plane, self._namespace = plane, namespace
        self._refused: dict[str, set[str]] = {}
        """The names of the objects that each revision could not take control of."""

    def refused(self, name: str) -> list[str]:
        """The revisions that could not take control of an object of this name when they were last tried."""
        return [revision for revision, names in self._refused.items() if name in names]

    def forget(self, revision: str) -> None:
        """Forget which objects a revision could not take control of."""
        self._refused.pop(revision, None)

    async def establish(
        self,
        revision: Object,
        objects: Sequence[bytes],
        conversion: Conversion = Conversion(),  # noqa: B008 - it is immutable
    ) -> Established:
        """Bring the objects of a revision into being; they are encoded, and decoded a few at a time."""
        active = revision["spec"].get("desiredState") == "Active"
        self.forget(name_of(revision))
        served, left_out = await self._served(objects)
        certificate = ""
        if active and call_back(map(orjson.loads, served)):
            certificate = await self._certificate(revision)

        async def prepare(data: bytes) -> _DesiredObject:
            obj = orjson.loads(data)
            if certificate:
                obj = pointed_home(obj, revision, self._namespace, certificate)
            obj = conversion.apply_to(_desired(obj, revision))
            return await self._desired_object(obj, revision, active)

        desired_objects = await _map(served, prepare)
        if active:
            await _map([desired for desired in desired_objects if not desired.is_there], self._try)
        written = await _map(desired_objects, lambda desired: self._write(desired, active))
        references = [
            _reference(prepare, live) for prepare, live in zip(desired_objects, written, strict=True)
        ]
        fingerprints = {
            (desired.kind.kind, live["name"]): live[_FINGERPRINT]
            for desired, live in zip(desired_objects, written, strict=True)
            if live is not None
        }
        references.sort(key=_identifier, reverse=True)
        return Established(references, fingerprints, left_out, bool(certificate))

    async def _served(self, objects: Sequence[bytes]) -> tuple[list[bytes], list[str]]:
        """The objects whose kinds are served here, and what the others are called."""
        served, others = [], []
        for data in objects:
            obj = orjson.loads(data)
            try:
                await self._plane.discovery.kind_for(obj["apiVersion"], obj["kind"])
                served.append(data)
            except UnknownKind:
                others.append(f"{obj['kind']} {name_of(obj)}")
        return served, others

    async def release(self, revision: Object) -> None:
        """Let the objects of a revision that is not active be controlled by the one that is."""
        await _map(
            (revision.get("status") or {}).get("objectRefs") or (), lambda ref: self._release(ref, revision)
        )

    async def _certificate(self, revision: Object) -> str:
        name = (revision.get("status") or {}).get("tlsServerSecretName")
        if not name:
            raise NoCertificate("waiting for package runtime controller to set revision's webhook TLS secret")
        secret = await self._plane.as_installer.get(SECRET, name, self._namespace)
        data = (secret or {}).get("data") or {}
        certificate = data.get("ca.crt") or data.get("tls.crt")
        if not certificate:
            raise NoCertificate(f"waiting for the webhook TLS secret {self._namespace}/{name}")
        return str(certificate)

    async def _desired_object(self, obj: Object, revision: Object, active: bool) -> _DesiredObject:
        kind = await self._plane.discovery.kind_for(obj["apiVersion"], obj["kind"])
        if kind.kind in _BRING_KINDS:
            if name_of(obj) in core_names():
                raise AlreadyControlled(
                    f"{name_of(obj)} is already controlled by the control plane itself", {}
                )
            check_definable(name_of(obj))
        live = await self._plane.as_installer.get(kind, name_of(obj))
        if kind.kind == MANAGED_DEFINITION.kind:
            obj = with_live_state(obj, live)
            if live is None:
                # A definition whose CRD has another owner could never be established.
                crd = await self._plane.as_installer.get(CRD, name_of(obj))
                await self._owners(crd, obj, revision, active)
        references = await self._owners(live, obj, revision, active)
        desired = {**obj, "metadata": {**obj["metadata"], "ownerReferences": references}}
        fields = None if live is None else _important(live)
        is_there = live is not None and _is_there(live, desired)
        return _DesiredObject(kind, orjson.dumps(desired), fields, is_there, references)

    async def _owners(self, live: Object | None, obj: Object, revision: Object, active: bool) -> list[Object]:
        try:
            return owners(live, name_of(obj), revision, active)
        except AlreadyControlled as problem:
            # Before anything is awaited: it may be released meanwhile.
            self._refused.setdefault(name_of(revision), set()).add(name_of(obj))
            if live is None or not await self._is_abandoned(problem, revision):
                raise
            return owners(without_owner(live, problem.owner), name_of(obj), revision, active)

    async def _is_abandoned(self, problem: AlreadyControlled, revision: Object) -> bool:
        """Whether a revision of the same package controlled it that was deleted; one that lives lets go.

        The object of a deleted Provider may wait for the very Provider that is installed again.
        """
        owner = problem.owner
        if owner.get("kind") != revision["kind"]:
            return False
        kind = await self._plane.discovery.kind_for(revision["apiVersion"], revision["kind"])
        other = await self._plane.as_installer.get(kind, str(owner.get("name")))
        if other is None or uid_of(other) != owner.get("uid"):
            if is_revision_of(revision, str(owner.get("name"))):
                return True
            raise AlreadyControlled(f"{problem}. {owner.get('name')} no longer exists", owner) from None
        if labels_of(other).get(PACKAGE) == labels_of(revision).get(PACKAGE):
            raise Waiting(f"waiting for {name_of(other)} to release what it controls: {problem}") from None
        return False

    async def _try(self, desired: _DesiredObject) -> None:
        await self._plane.as_installer.apply(desired.kind, desired.data, MANAGER, dry_run=True)

    async def _write(self, desired: _DesiredObject, active: bool) -> Object | None:
        """The metadata of the object as it is then; None where it is not there, and not ours to make."""
        if active and not desired.is_there:
            return _important(await self._plane.as_installer.apply(desired.kind, desired.data, MANAGER))
        # Its controller decides its content; we only add an owner reference.
        if desired.live is not None and not _has(desired.live, desired.references):
            return _important(await self._own(desired.kind, desired.live, desired.references))
        return desired.live

    async def _release(self, ref: Object, revision: Object) -> None:
        kind = await self._plane.discovery.kind_for(ref["apiVersion"], ref["kind"])
        live = await self._plane.as_installer.get(kind, ref["name"])
        references = None if live is None else released(live, revision)
        if live is not None and references is not None:
            await self._own(kind, live["metadata"], references)

    async def _own(self, kind: Kind, metadata: Object, references: list[Object]) -> Object:
        body = {"metadata": {"ownerReferences": references, "resourceVersion": metadata["resourceVersion"]}}
        return await self._plane.as_installer.patch_merge(kind, metadata["name"], body, "", MANAGER)


def _desired(obj: Object, revision: Object) -> Object:
    """An object as the package has it, with the labels and annotations that all of them are to have."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _DROPPED}
    for key, own in (("commonLabels", labels_of(obj)), ("commonAnnotations", annotations_of(obj))):
        everywhere = revision["spec"].get(key) or {}
        if own or everywhere:
            metadata["labels" if key == "commonLabels" else "annotations"] = {**own, **everywhere}
    fields = {key: value for key, value in obj.items() if key != "status"}
    return {**fields, "metadata": metadata}


def _is_there(live: Object, desired: Object) -> bool:
    """Whether there is nothing to write. What Crossplane established is not written for our name only."""
    if is_applied(live, desired, MANAGER):
        return True
    return (
        desired["kind"] == MANAGED_DEFINITION.kind
        and is_same_definition(live, desired)
        and contains(live["metadata"], desired["metadata"])
    )


def _important(live: Object) -> Object:
    """The metadata of an object without what is long, and its fingerprint."""
    metadata = {key: live["metadata"][key] for key in _IMPORTANT if key in live["metadata"]}
    is_definition = live["kind"] == MANAGED_DEFINITION.kind
    return {
        **metadata,
        _FINGERPRINT: spec_digest(live) if is_definition else int(metadata.get("generation") or 0),
    }


def _reference(desired: _DesiredObject, live: Object | None) -> Object:
    name = live["name"] if live is not None else name_of(orjson.loads(desired.data))
    reference = {"apiVersion": desired.kind.api_version, "kind": desired.kind.kind, "name": name}
    return {**reference, "uid": live["uid"]} if live is not None else reference


def _has(metadata: Object, references: list[Object]) -> bool:
    present = metadata.get("ownerReferences") or ()
    return all(any(reference == own for own in present) for reference in references)


def _identifier(reference: Object) -> str:
    return f"{reference['apiVersion']}, Kind={reference['kind']}/{reference['name']}"


async def _map(items: Iterable[T], work: Callable[[T], Awaitable[R]]) -> list[R]:
    """The results of some work on each item, a few at once; the first failure is raised."""
    room = asyncio.Semaphore(AT_ONCE)

    async def run(item: T) -> R:
        async with room:
            return await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run(item)) for item in items]
    except BaseExceptionGroup as problems:
        raise problems.exceptions[0] from None
    return [task.result() for task in tasks]
