"""Credentials of a ProviderConfig: where they come from, and their content once they are read."""

from __future__ import annotations

from typing import NamedTuple


class Credentials(NamedTuple):
    """The type of a ProviderConfig's field `credentials`.

    In YAML it has `source` (Secret, Environment, Filesystem or None) and one of `secretRef`, `env` and `fs`.
    """

    source: str = "None"
    data: bytes = b""
    """The content; empty where the source is None."""

    @property
    def text(self) -> str:
        """The content as text."""
        return self.data.decode()

    def __repr__(self) -> str:
        return f"Credentials(source={self.source!r})"
