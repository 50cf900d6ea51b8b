"""Creates the container runtime with its image store and configuration."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from crossply.containers.image_store import Store
from crossply.containers.settings import store_directory
from crossply.control.controller_context import Plane
from crossply.control.definitions.container_config_crd import CONTAINER_CONFIG
from crossply.control.kinds import IMAGE_CONFIG, RUNTIME_CONFIG
from crossply.control.package_manager.package_fetcher import PackageFetcher
from crossply.control.package_manager.settings import PackageSettings
from crossply.control.runtimes.container_runtime import ContainerRuntime
from crossply.control.runtimes.container_settings import ContainerSettings
from crossply.control.runtimes.mutual_tls_certificates import Credentials
from crossply.control.runtimes.pulled_images import RevisionImages
from crossply.control.runtimes.runtime_config_selection import RuntimeConfigs
from crossply.functions.composition_container_functions import ContainerFunctions
from crossply.kube.informer import Informer


class ImageSettings(NamedTuple):
    """Where images of functions come from, and where they are kept unpacked."""

    packages: PackageSettings = PackageSettings()
    directory: str = ""
    """Empty for where the user's images are."""

    def store(self) -> Store:
        """The images themselves."""
        return Store(self.directory or store_directory(os.environ))

    def container_functions(self) -> ContainerFunctions:
        """What runs the container functions of Compositions."""
        return ContainerFunctions(self.store(), self.packages.logins, self.packages.trust)


async def watch_container_settings(plane: Plane, enqueue_all: Callable[[], None]) -> ContainerSettings:
    """What containers are run with; `enqueue_all` enqueues every revision when that changes."""
    caches = [plane.informers.acquire(kind) for kind in (CONTAINER_CONFIG, RUNTIME_CONFIG, IMAGE_CONFIG)]
    for cache in caches:
        await cache.synced.wait()
        cache.subscribe(lambda *event: enqueue_all())
    container_configs, deployment_configs, image_configs = caches
    return ContainerSettings(container_configs, RuntimeConfigs(deployment_configs, image_configs))


def revision_images(plane: Plane, place: ImageSettings) -> RevisionImages:
    """The images of revisions on this machine."""
    return RevisionImages(PackageFetcher(plane.as_installer, place.packages), place.store())


async def start_container_runtime(
    plane: Plane,
    revisions: Informer,
    credentials: Credentials,
    place: ImageSettings,
    enqueue_all: Callable[[], None],
    logs: str = "",
) -> ContainerRuntime:
    """The container runtime of Functions, whose output is kept in the directory `logs`."""
    settings = await watch_container_settings(plane, enqueue_all)
    return ContainerRuntime(plane, revisions, revision_images(plane, place), settings, credentials, logs)
