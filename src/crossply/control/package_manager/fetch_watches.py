"""What a package that cannot be fetched waits for: Secrets, and the service account of the control plane.

A change of a Secret concerns only the packages that were last fetched with it, or would have been if it had
existed. A change of the account concerns all of them, since its pull secrets are used for every package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from crossply.control.package_manager.settings import PackageSettings
from crossply.kube.controller import Watch
from crossply.kube.core_kinds import SECRET, SERVICE_ACCOUNT
from crossply.kube.list_options import Selection
from crossply.kube.shared_informers import SharedInformers
from crossply.kube.watch import Key

KeysOfImages = Callable[[Callable[[str], bool]], Iterable[Key]]
"""The objects that a controller reconciles whose image passes a check."""


class SecretReads:
    """The names of the Secrets that each image was last fetched with, also of those that do not exist."""

    def __init__(self) -> None:
        self._names: dict[str, frozenset[str]] = {}

    def record(self, image: str, names: Iterable[str]) -> None:
        """Remember the Secrets of an image in place of those before."""
        self._names[image] = frozenset(names)

    def images(self, name: str) -> frozenset[str]:
        """The images that a Secret is read for."""
        return frozenset(image for image, names in self._names.items() if name in names)


class FetchWatches:
    """Makes the watches of controllers that fetch; `informers` must be allowed to read what they watch."""

    def __init__(self, informers: SharedInformers, settings: PackageSettings, reads: SecretReads) -> None:
        self._informers, self._settings, self._reads = informers, settings, reads

    def watches(self, keys: KeysOfImages) -> list[Watch]:
        """Enqueue what was, or would be, fetched with a Secret or the account that changed."""
        namespace, account = self._settings.namespace, self._settings.service_account
        secrets = self._informers.acquire(SECRET, Selection(namespace, metadata_only=True))
        watches = [Watch(secrets, lambda key, old, new: self._readers(key, keys))]
        if account:
            accounts = self._informers.acquire(SERVICE_ACCOUNT, Selection(namespace))
            watches.append(
                Watch(accounts, lambda key, old, new: keys(lambda _: True) if key[1] == account else ())
            )
        return watches

    def _readers(self, secret: Key, keys: KeysOfImages) -> Iterable[Key]:
        images = self._reads.images(secret[1])
        return keys(images.__contains__) if images else ()
