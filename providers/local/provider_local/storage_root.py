"""Where the provider keeps what it makes: one directory, and in it one for each namespace.

It is the directory that the control plane gives to the provider, unless the operator names another one in the
environment. Nothing in a resource can.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping

from crossply.provider import ExternalError
from provider_local.confined_tree import ConfinedTree
from provider_local.relative_path import path_components

ROOT_VARIABLE = "CROSSPLY_LOCAL_ROOT"
DATA_VARIABLE = "CROSSPLY_PROVIDER_DATA"
"""The directory that a provider has of its own in `crossply up`."""
_PARENT_SECONDS = 3.0


class RootMissing(ExternalError):
    """The operator has not said where files may be created."""

    hint = f"set {ROOT_VARIABLE} in the environment of the provider to a directory that only it uses"


class DirectoryMissing(ExternalError):
    """The directory that a resource refers to is not there."""

    hint = "create a Directory with this external name in the same namespace"


def storage_root(environment: Mapping[str, str] = os.environ) -> str:
    """The real path of the root, which is created if it is missing; raises RootMissing."""
    root = environment.get(ROOT_VARIABLE) or environment.get(DATA_VARIABLE, "")
    if not os.path.isabs(root):
        raise RootMissing("the provider has no directory for its files")
    os.makedirs(root, mode=0o700, exist_ok=True)
    return os.path.realpath(root)


class NamespaceFiles:
    """The files of one namespace."""

    def __init__(self, namespace: str, environment: Mapping[str, str] = os.environ) -> None:
        self.tree = ConfinedTree(storage_root(environment))
        self._namespace = namespace

    def path(self, *names: str | None) -> tuple[str, ...]:
        """The path of relative names, each below the one before; raises PathRefused."""
        below = [component for name in names if name for component in path_components(name)]
        return (self._namespace, *below)

    def absolute(self, *names: str | None) -> str:
        """The same path as a text that other programs understand."""
        return self.tree.absolute(self.path(*names))

    async def prepare(self, directory: str | None = None) -> None:
        """Make it possible to write: create the directory of the namespace, and await one below it.

        A Directory is often created at the same moment as what is in it. Raises DirectoryMissing.
        """
        if self.tree.directory_mode((self._namespace,)) is None:
            self.tree.make_directory((self._namespace,), 0o700)
        deadline = time.monotonic() + _PARENT_SECONDS
        while self.tree.directory_mode(self.path(directory)) is None:
            if time.monotonic() > deadline:
                raise DirectoryMissing(f'directory "{directory}" does not exist')
            await asyncio.sleep(0.05)
