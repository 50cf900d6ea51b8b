"""The controllers of package revisions and of the Lock, and what wakes them.

A revision is looked at again when the Lock changes and it depends on others, when an ImageConfig for its
image changes, and when somebody changes or deletes what it brought.
"""

from __future__ import annotations

import orjson

from crossply.compose.metadata import controller_of, metadata_of
from crossply.control.controllers import Follow, Wake
from crossply.control.definitions.owned_crds import METADATA
from crossply.control.kinds import COMPOSITION, CRD, DEFINITION, IMAGE_CONFIG, LOCK
from crossply.control.package_manager.fetching import Fetching
from crossply.control.package_manager.installing import InstallingController
from crossply.control.package_manager.locking import Locking
from crossply.control.package_manager.package_kinds import PACKAGE_KINDS, PackageKind
from crossply.control.package_manager.resolving import ResolvingController
from crossply.control.plane import Plane
from crossply.kube.cache import Cache, Subscriber
from crossply.kube.selection import EVERYTHING
from crossply.values import Object
from crossply.xpkg.image_configs import prefixes


def follow_revisions(plane: Plane, fetching: Fetching, namespace: str, follow: Follow) -> None:
    """Begin to look after all package revisions and what they depend on."""
    locks = plane.caches.acquire(LOCK)
    locking = Locking(plane)
    for kind in PACKAGE_KINDS:
        controller = InstallingController(plane, kind, fetching, locking, namespace)
        revisions = plane.caches.acquire(kind.revision)
        wake = follow(controller, revisions)
        locks.subscribe(_waking_dependents(controller, wake))
        plane.caches.acquire(IMAGE_CONFIG).subscribe(_waking_matches(controller, revisions, wake))
        for brought in (CRD, DEFINITION, COMPOSITION):
            cache = plane.caches.acquire(brought, METADATA if brought is CRD else EVERYTHING)
            cache.subscribe(_waking_owner(controller, kind, brought.kind, wake))
    follow(ResolvingController(plane, fetching), locks)


def _waking_dependents(controller: InstallingController, wake: Wake) -> Subscriber:
    def notice(change: str, key: tuple[str, str], old: bytes | None, new: bytes | None) -> None:
        if _packages(old) != _packages(new):
            for name in controller.depending():
                wake(name)

    return notice


def _packages(lock: bytes | None) -> list[Object]:
    found: list[Object] = (orjson.loads(lock) if lock else {}).get("packages") or []
    return found


def _waking_matches(controller: InstallingController, revisions: Cache, wake: Wake) -> Subscriber:
    def notice(change: str, key: tuple[str, str], old: bytes | None, new: bytes | None) -> None:
        configs = [orjson.loads(data) for data in filter(None, (old, new))]
        concerned = tuple(prefix for config in configs for prefix in prefixes(config))
        for data in revisions.objects():
            revision = orjson.loads(data)
            images = (
                revision["spec"].get("image", ""),
                (revision.get("status") or {}).get("resolvedImage", ""),
            )
            if any(image.startswith(concerned) for image in images):
                controller.forget(revision["metadata"]["name"])
                wake(revision["metadata"]["name"])

    return notice


def _waking_owner(
    controller: InstallingController, kind: PackageKind, brought: str, wake: Wake
) -> Subscriber:
    """A change that the controller did not make itself: another generation than the one that it left."""

    def notice(change: str, key: tuple[str, str], old: bytes | None, new: bytes | None) -> None:
        # Gone is what was controlled; what changed is controlled still, or was so before.
        for data in (new, old):
            owner = controller_of(orjson.loads(data)) if data else None
            if owner is None or owner.get("kind") != kind.revision.kind:
                continue
            name = str(owner.get("name", ""))
            left = controller.established(name).get((brought, key[1]))
            now = metadata_of(orjson.loads(new)).get("generation") if new else None
            if left is not None and left != now:
                controller.forget(name)
                wake(name)
            return

    return notice
