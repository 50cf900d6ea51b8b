"""An external system in memory, for tests of kinds whose client is no more than this."""

from __future__ import annotations

from typing import Any

from crossply.provider.external_error import ExternalError


class ExternalSystem:
    """Things by name, each with fields."""

    def __init__(self) -> None:
        self._things: dict[str, dict[str, Any]] = {}
        self._created = 0

    def get(self, name: str) -> dict[str, Any] | None:
        """The fields of a thing; None where it does not exist."""
        thing = self._things.get(name)
        return None if thing is None else dict(thing)

    def create(self, name: str, **fields: Any) -> None:
        """Create a thing with a name that the caller chooses."""
        if name in self._things:
            raise ExternalError(f"{name} exists already")
        self._things[name] = dict(fields)

    def add(self, **fields: Any) -> str:
        """Create a thing with a name that the system chooses, and return the name."""
        self._created += 1
        name = f"id-{self._created}"
        self._things[name] = dict(fields)
        return name

    def update(self, name: str, **fields: Any) -> None:
        """Change fields of a thing."""
        if name not in self._things:
            raise ExternalError(f"{name} does not exist")
        self._things[name].update(fields)

    def delete(self, name: str) -> None:
        """Delete a thing. One that does not exist is deleted already."""
        self._things.pop(name, None)

    def find(self, **fields: Any) -> list[str]:
        """The names of the things whose fields have these values."""
        return [name for name, thing in self._things.items() if fields.items() <= thing.items()]

    def names(self) -> list[str]:
        """The names of all things."""
        return list(self._things)
