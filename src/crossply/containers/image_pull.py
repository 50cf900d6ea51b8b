"""Getting an image ready to be run: from the store, or pulled from its registry and unpacked."""

from __future__ import annotations

import os
import tempfile
from typing import NamedTuple

from crossply.containers.failures import ImageMissing
from crossply.containers.image_store import PULLS, Store, StoredImage
from crossply.xpkg.cancellable_thread import cancellable_thread
from crossply.xpkg.image_pull import pull_image, resolve
from crossply.xpkg.image_reference import Reference, parse
from crossply.xpkg.keychain import Keychain, default_keychain
from crossply.xpkg.progress import Progress
from crossply.xpkg.registry_session import Registries, Trust

IF_NOT_PRESENT, ALWAYS, NEVER = "IfNotPresent", "Always", "Never"


class ImageSource(NamedTuple):
    """How registries are accessed."""

    keychain: Keychain | None = None
    """The credentials: the user's own logins by default."""
    trust: Trust | None = None
    progress: Progress | None = None


async def pull(
    image: str, store: Store, policy: str = IF_NOT_PRESENT, source: ImageSource | None = None
) -> StoredImage:
    """The image that a reference stands for, unpacked."""
    reference = parse(image)
    stored_before = store.recall(reference)
    if stored_before is not None and (policy != ALWAYS or reference.digest):
        return stored_before
    if policy == NEVER:
        raise ImageMissing(f"the image {image} is not here, and its pull policy is {NEVER}")
    source = source or ImageSource()
    keychain = source.keychain or default_keychain(os.environ)
    async with (
        Registries(keychain, source.trust, source.progress) as registries,
        registries.deadline(reference),
    ):
        digest = await resolve(registries, reference)
        stored = store.get(digest) or await _pull(registries, reference.at(digest), store)
    store.remember(reference, digest)
    return stored


async def _pull(registries: Registries, reference: Reference, store: Store) -> StoredImage:
    store.prepare()
    with tempfile.TemporaryDirectory(prefix=PULLS, dir=store.directory) as directory:
        pulled = await pull_image(registries, reference, directory)
        return await cancellable_thread(lambda event: store.add(pulled.image, pulled.digest, event))
