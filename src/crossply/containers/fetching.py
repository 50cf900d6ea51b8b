"""Getting an image ready to be run: from the store, or pulled from its registry and unpacked."""

from __future__ import annotations

from crossply.containers.store import Store, StoredImage
from crossply.packages.keychain import Keychain
from crossply.packages.progress import Progress
from crossply.packages.registry import Trust

IF_NOT_PRESENT, ALWAYS, NEVER = "IfNotPresent", "Always", "Never"


async def fetch(
    image: str,
    store: Store,
    policy: str = IF_NOT_PRESENT,
    keychain: Keychain | None = None,
    trust: Trust | None = None,
    progress: Progress | None = None,
) -> StoredImage:
    """The image that a reference stands for, unpacked."""
    raise NotImplementedError
