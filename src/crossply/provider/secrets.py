"""Values of Secrets, as parameters and configurations refer to them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from crossply.errors import CrossplyError
from crossply.kube.core_kinds import SECRET
from crossply.provider.reconcile_triggers import ReadObject
from crossply.provider.watched_objects import WatchedObjects
from crossply.values import Object


class MissingSecret(CrossplyError):
    """A Secret that a managed resource or a ProviderConfig refers to does not exist, or lacks the key."""

    code = "CP-883"
    hint = "create the Secret, or correct the reference to it"


class SecretReader:
    """Reads Secrets, and notes which."""

    def __init__(self, objects: WatchedObjects, note: Callable[[ReadObject], None]) -> None:
        self._objects = objects
        self._note = note

    async def data(self, namespace: str, name: str) -> dict[str, bytes]:
        """All keys of a Secret; raises MissingSecret."""
        self._note(ReadObject(SECRET, namespace, name))
        secret = await self._objects.get(SECRET, name, namespace)
        if secret is None:
            raise MissingSecret(f'Secret "{name}" not found in namespace "{namespace}"')
        return secret_data(secret)

    async def value(self, namespace: str, name: str, key: str) -> bytes:
        """One key of a Secret; raises MissingSecret."""
        data = await self.data(namespace, name)
        if key not in data:
            keys = ", ".join(sorted(data)) or "none"
            raise MissingSecret(
                f'Secret "{name}" in namespace "{namespace}" has no key "{key}"',
                hint=f"the keys that it has: {keys}",
            )
        return data[key]


def secret_data(secret: Object) -> dict[str, bytes]:
    """What is in a Secret, by key. What is not base64 is left out."""
    data = {}
    for key, value in (secret.get("data") or {}).items():
        try:
            data[key] = base64.b64decode(value)
        except (binascii.Error, TypeError, ValueError):
            continue
    return data
