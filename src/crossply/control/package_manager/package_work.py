"""The controllers of packages, and what wakes them: their revisions, and ImageConfigs for their images."""

from __future__ import annotations

import orjson

from crossply.control.controllers import Follow, Wake
from crossply.control.kinds import IMAGE_CONFIG
from crossply.control.package_manager.package import PackageController, package_of
from crossply.control.package_manager.package_identity import Identities
from crossply.control.package_manager.package_kinds import PACKAGE_KINDS
from crossply.control.plane import Plane
from crossply.kube.cache import Subscriber
from crossply.xpkg.image_configs import prefixes


def follow_packages(plane: Plane, identities: Identities, rollout: bool, follow: Follow) -> None:
    """Begin to look after all packages."""
    configs = plane.caches.acquire(IMAGE_CONFIG)
    for kind in PACKAGE_KINDS:
        controller = PackageController(plane, kind, identities, rollout)
        wake = follow(controller, controller.packages)
        controller.revisions.subscribe(_waking_packages(wake))
        configs.subscribe(_waking_matches(controller, wake))


def _waking_packages(wake: Wake) -> Subscriber:
    """A change of a revision concerns its package, also the one it was of before."""

    def notice(change: str, key: tuple[str, str], old: bytes | None, new: bytes | None) -> None:
        for data in filter(None, (old, new)):
            for name in package_of(orjson.loads(data)):
                wake(name)

    return notice


def _waking_matches(controller: PackageController, wake: Wake) -> Subscriber:
    """A change of an ImageConfig concerns the packages whose image it is for, or was for."""

    def notice(change: str, key: tuple[str, str], old: bytes | None, new: bytes | None) -> None:
        configs = [orjson.loads(data) for data in filter(None, (old, new))]
        concerned = tuple(prefix for config in configs for prefix in prefixes(config))
        for name in controller.with_image_like(concerned):
            wake(name)

    return notice
