"""Containers for a command of a user: their store of images, their logins, their registries."""

from __future__ import annotations

import os
import sys

from crossply.containers.image_store import Store, StoredImage
from crossply.containers.settings import Settings, store_directory
from crossply.errors import CrossplyError
from crossply.functions.composition_container_functions import ContainerFunctions
from crossply.functions.daemonless_container_runner import InContainer
from crossply.functions.docker_settings import ContainerSettings
from crossply.functions.one_shot_image_run import ImageRun, fetch_within
from crossply.xpkg.keychain import default_keychain
from crossply.xpkg.progress import ProgressBar
from crossply.xpkg.registry_session import Trust


def open_locally(function: ContainerSettings, to_completion: bool, instead: str = "") -> InContainer:
    """The runner of a Function whose image the user names; `instead` is what to do without the image."""
    image_run = ImageRun(function.image, function.pull_policy, default_keychain(os.environ))

    def fetch(seconds: float) -> StoredImage:
        try:
            with ProgressBar(sys.stderr, f"pulling {function.image}") as bar:
                return fetch_within(seconds, image_run, _store(), _trust(), bar)
        except CrossplyError as problem:
            hint = "; ".join(advice for advice in (problem.hint, instead) if advice)
            raise problem.replace(hint=hint).within(f'package "{function.image}"') from None

    settings = Settings(environment=function.environment)
    return InContainer(function.function, fetch, settings, to_completion=to_completion)


def local_container_functions() -> ContainerFunctions:
    """What runs the container functions of the user's Compositions."""
    return ContainerFunctions(_store(), default_keychain(os.environ), _trust())


def _store() -> Store:
    return Store(store_directory(os.environ))


def _trust() -> Trust:
    from urllib.request import getproxies_environment

    return Trust(proxies=getproxies_environment())
