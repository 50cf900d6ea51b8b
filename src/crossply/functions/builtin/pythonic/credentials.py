"""The credentials of a step, and what the caller of the function can do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.functions.builtin.pythonic.message import Message
from crossply.functions.builtin.pythonic.node import put


class _Entries:
    """Named entries of a map in a message."""

    __slots__ = ("_entries",)

    _entries: Any

    def __init__(self, entries: Any) -> None:
        put(self, "_entries", entries)

    def __getattr__(self, name: str) -> Any:
        return self[name]

    def __getitem__(self, name: Any) -> Any:
        return self._entries[name]

    def __bool__(self) -> bool:
        return bool(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for name, _ in self._entries:
            yield name, self[name]


class Credential(_Entries):
    """One credential: texts by key."""

    __slots__ = ()

    def __init__(self, credential: Message) -> None:
        super().__init__(credential.credential_data.data)


class Credentials(_Entries):
    """The credentials of the step by name."""

    __slots__ = ()

    def __init__(self, request: Message) -> None:
        super().__init__(request.credentials)

    def __getitem__(self, name: Any) -> Credential:
        return Credential(self._entries[name])


class Capabilities:
    """What the caller says that it can do; each is None for a caller that does not say anything."""

    def __init__(self, capabilities: Any) -> None:
        self._capabilities = capabilities

    def __bool__(self) -> bool:
        return 1 in self._capabilities

    @property
    def requireds(self) -> bool | None:
        return self._has(2)

    @property
    def credentials(self) -> bool | None:
        return self._has(3)

    @property
    def conditions(self) -> bool | None:
        return self._has(4)

    @property
    def schemas(self) -> bool | None:
        return self._has(5)

    def _has(self, number: int) -> bool | None:
        return number in self._capabilities if self else None
