"""Credentials for an API server: a token, a token in a file that is renewed, or the output of a program."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from crossply.errors import CrossplyError
from crossply.kube.tls import Certificate

FILE_SECONDS = 60.0
"""How long a token that was read from a file is used before the file is read again."""


class CredentialsFailed(CrossplyError):
    """The credentials that a kubeconfig describes could not be obtained."""

    code = "CP-721"
    hint = "check the user of the kubeconfig's context"


@dataclass(frozen=True, slots=True)
class Credential:
    """What to show the server."""

    authorization: str = field(default="", repr=False)
    """The Authorization header; empty for none."""
    certificate: Certificate | None = None


class Credentials(Protocol):
    """Somewhere that credentials come from."""

    async def current(self) -> Credential:
        """What to show now."""
        ...

    def refused(self) -> None:
        """The server did not accept it: fetch a new one next time."""
        ...


class Fixed:
    """Credentials that never change."""

    def __init__(self, credential: Credential) -> None:
        self._credential = credential

    async def current(self) -> Credential:
        """The one there is."""
        return self._credential

    def refused(self) -> None:
        """There is no other."""


class TokenFile:
    """A token in a file, as service accounts have it: the file is rewritten before the token expires."""

    def __init__(self, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._until = float("-inf")
        self._credential = Credential()

    async def current(self) -> Credential:
        """The file's token, read again every minute."""
        if self._clock() >= self._until:
            self._credential = Credential(f"Bearer {self._read()}")
            self._until = self._clock() + FILE_SECONDS
        return self._credential

    def refused(self) -> None:
        """Read the file again next time."""
        self._until = float("-inf")

    def _read(self) -> str:
        try:
            with open(self._path, encoding="utf-8") as file:
                token = file.read().strip()
        except (OSError, UnicodeDecodeError) as problem:
            raise CredentialsFailed(f"cannot read the token file {self._path}: {problem}") from None
        if not token:
            raise CredentialsFailed(f"the token file {self._path} is empty")
        return token
