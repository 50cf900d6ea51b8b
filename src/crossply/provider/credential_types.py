"""Credentials of a ProviderConfig: where they come from, and their content once they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Credentials(NamedTuple):
    """The type of a ProviderConfig's field `credentials`.

    In YAML it has `source` (Secret, InjectedIdentity, Environment, Filesystem or None) and one of
    `secretRef`, `env` and `fs`. With InjectedIdentity, the provider uses the identity that it runs with.
    """

    source: str = "None"
    data: bytes = b""
    """The content; empty where the source is None or InjectedIdentity."""

    @property
    def text(self) -> str:
        """The content as text, without the line end that files often have."""
        return self.data.decode().rstrip("\r\n")

    def __repr__(self) -> str:
        return f"Credentials(source={self.source!r})"


class SecretData(Mapping[str, bytes]):
    """All keys of a Secret: `connection: SecretData` of a ProviderConfig becomes `connectionSecretRef`.

    For credentials of several values, such as the connection Secret of another managed resource.
    """

    def __init__(self, name: str, data: Mapping[str, bytes]) -> None:
        self.name = name
        """Namespace and name of the Secret, for messages."""
        self._data = dict(data)

    def __getitem__(self, key: str) -> bytes:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"SecretData({self.name!r})"
