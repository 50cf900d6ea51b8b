"""What a WebServer is between two starts of the provider: a file that says what is served on which port."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from provider_local.confined_tree import ConfinedTree
from provider_local.relative_path import single_name

_DIRECTORY = ".web-servers"  # no namespace has such a name
_LARGEST = 1 << 16


class ServerUnit(NamedTuple):
    """One web server that should run."""

    namespace: str
    name: str
    directory: str
    """A path below the directory of the namespace."""
    port: int

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.port}/"


class ServerUnits(NamedTuple):
    """The web servers that should run, kept in files."""

    tree: ConfinedTree

    def load(self, namespace: str, name: str) -> ServerUnit | None:
        """One of them; None where there is no such server."""
        return self._read(_file_name(namespace, name))

    def load_all(self) -> Iterator[ServerUnit]:
        """All of them."""
        for file_name in self.tree.entries((_DIRECTORY,)):
            unit = self._read(file_name) if file_name.endswith(".json") else None
            if unit is not None:
                yield unit

    def save(self, unit: ServerUnit) -> None:
        """Write one, which may exist."""
        self.tree.make_directory((_DIRECTORY,), 0o700)
        content = json.dumps(unit._asdict(), indent=2).encode()
        self.tree.write((_DIRECTORY, _file_name(unit.namespace, unit.name)), content, 0o600)

    def remove(self, namespace: str, name: str) -> None:
        """Remove one, if it is there."""
        self.tree.remove_file((_DIRECTORY, _file_name(namespace, name)))

    def _read(self, file_name: str) -> ServerUnit | None:
        file = self.tree.read((_DIRECTORY, file_name), _LARGEST)
        return None if file is None else ServerUnit(**json.loads(file.content))


def _file_name(namespace: str, name: str) -> str:
    """Namespaces have no dots, so no two servers share a file."""
    return f"{namespace}.{single_name(name)}.json"
