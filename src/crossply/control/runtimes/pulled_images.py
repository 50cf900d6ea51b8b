"""The images of revisions in the store of this machine: pulled once each, beside everything else."""

from __future__ import annotations

import asyncio
import tempfile

from crossply.compose.object_metadata import annotations_of
from crossply.containers.image_store import Store, StoredImage
from crossply.control.package_manager.package_fetcher import DIGEST, NEVER, PackageFetcher
from crossply.control.runtimes.runtime import NotRunning
from crossply.values import Object
from crossply.xpkg.cancellable_thread import cancellable_thread
from crossply.xpkg.disk_space import explained_disk_errors
from crossply.xpkg.image_pull import pull_image


class RevisionImages:
    """Pulls images as ImageConfigs and pull secrets say."""

    def __init__(self, fetching: PackageFetcher, store: Store) -> None:
        self._fetcher = fetching
        self._store = store
        self._pulls: dict[str, asyncio.Task[StoredImage]] = {}

    def here(self, revision: Object) -> StoredImage | None:
        """The image of a revision, if it is in the store."""
        digest = annotations_of(revision).get(DIGEST, "")
        return self._store.get(digest) if digest else None

    async def fetch(self, revision: Object, timeout: float) -> StoredImage:
        """The image of a revision; raises NotRunning after `timeout` seconds, while the pull continues."""
        stored = await asyncio.to_thread(self.here, revision)
        if stored is not None:
            return stored
        image = str(revision["spec"].get("image", ""))
        if revision["spec"].get("packagePullPolicy") == NEVER:
            raise NotRunning(
                f"the image {image} is not here, and its pull policy is {NEVER}",
                hint="use the pull policy IfNotPresent or Always",
            )
        key = _key(revision)
        pull = self._pulls.get(key)
        if pull is None:
            pull = self._pulls[key] = asyncio.create_task(self._pull(revision, image))
            pull.add_done_callback(lambda _: self._pulls.pop(key, None))
        done, _ = await asyncio.wait({pull}, timeout=timeout)
        if not done:
            raise NotRunning(f"the image {image} is being pulled", hint="wait until it is here")
        if pull.cancelled():
            raise NotRunning(f"the image {image} was no longer wanted", hint="it is pulled again when it is")
        return pull.result()

    def cancel(self, revision: Object) -> None:
        """Stop pulling the image of a revision."""
        pull = self._pulls.get(_key(revision))
        if pull is not None:
            pull.cancel()

    async def close(self) -> None:
        """Pull nothing any more."""
        pulls = list(self._pulls.values())
        for pull in pulls:
            pull.cancel()
        await asyncio.gather(*pulls, return_exceptions=True)

    async def _pull(self, revision: Object, image: str) -> StoredImage:
        secrets = [
            str(secret.get("name") or "") for secret in revision["spec"].get("packagePullSecrets") or ()
        ]
        digest = annotations_of(revision).get(DIGEST, "")
        with explained_disk_errors(f"unpack image {image}"):
            return await self._pull_into_store(image, secrets, digest)

    async def _pull_into_store(self, image: str, secrets: list[str], digest: str) -> StoredImage:
        async with self._fetcher.opened(image, secrets, digest) as opened:
            stored = await asyncio.to_thread(self._store.get, opened.resolved.digest)
            if stored is not None:
                return stored
            await asyncio.to_thread(self._store.prepare)
            with tempfile.TemporaryDirectory(prefix="pull-", dir=self._store.directory) as directory:
                pulled = await pull_image(opened.registries, opened.resolved.reference, directory)
                return await cancellable_thread(
                    lambda event: self._store.add(pulled.image, pulled.digest, event)
                )


def _key(revision: Object) -> str:
    return f"{revision['spec'].get('image', '')} {annotations_of(revision).get(DIGEST, '')}"
