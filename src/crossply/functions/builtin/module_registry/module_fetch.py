"""Directories of modules from registries: from the cache, or else fetched into it.

While a registry cannot be reached, the modules that an address stood for before are used. Fetching
one does not wait for fetching another.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crossply.errors import CrossplyError
from crossply.functions.builtin.module_registry.module_cache import ModuleCache
from crossply.functions.reply_limits import current_limits

if TYPE_CHECKING:
    from crossply.xpkg.keychain import Keychain
    from crossply.xpkg.registry_session import Registries

FRESH_SECONDS = 600.0
"""How long an address without a fixed version stands for the same modules."""

_PULL_SECONDS = 50.0
_is_offline: ContextVar[bool] = ContextVar("is_offline", default=False)

Pull = Callable[["Registries"], Awaitable[str]]
"""Puts modules into the cache, and returns their digest."""


class FetchError(Exception):
    """Modules cannot be fetched; the message says why."""


class Address(Protocol):
    """Where modules are in a registry; its text is what the cache calls it."""

    @property
    def registry(self) -> str: ...

    @property
    def digest(self) -> str:
        """The digest that pins it; empty where there is none."""


class RegistryAccess(NamedTuple):
    """Which registries may be used, and how."""

    private: frozenset[str]
    """Those in private networks."""
    setting: str
    """The environment variable that lists them."""
    plain_http: bool = False
    keychain: Keychain | None = None


@contextmanager
def without_network() -> Iterator[None]:
    """Within, modules come from the cache or not at all."""
    token = _is_offline.set(True)
    try:
        yield
    finally:
        _is_offline.reset(token)


def modules_directory(
    cache: ModuleCache, address: Address, access: RegistryAccess, pull: Pull, *, is_fixed: bool = False
) -> str:
    """The directory with the modules at an address; raises FetchError.

    What a fixed address stands for is resolved once.
    """
    with _fetching.holding((str(address), cache.login)):  # so that two calls do not fetch the same modules
        return _cached(cache, address, is_fixed) or _fetched(cache, address, access, pull)


def _cached(cache: ModuleCache, address: Address, is_fixed: bool) -> str | None:
    if address.digest:
        return cache.get(address.digest)
    remembered = cache.remembered(str(address))
    if remembered is None or (not is_fixed and time.time() - remembered.time > FRESH_SECONDS):
        return None
    return cache.get(remembered.digest)


def _fetched(cache: ModuleCache, address: Address, access: RegistryAccess, pull: Pull) -> str:
    try:
        digest = _in_thread(address.registry, access, pull)
    except (CrossplyError, OSError) as error:
        remembered = cache.remembered(str(address))
        directory = cache.get(remembered.digest) if remembered is not None else None
        if directory is not None:
            return directory
        raise FetchError(str(error)) from None
    if not address.digest:
        cache.remember(str(address), digest)
    directory = cache.get(digest)
    if directory is None:
        raise FetchError("it was removed from the cache")
    return directory


def _in_thread(registry: str, access: RegistryAccess, pull: Pull) -> str:
    """Fetch modules and return their digest. The calling thread may have a running event loop."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    if _is_offline.get():
        raise OSError("nothing is fetched here")
    seconds = _seconds_left()
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(lambda: asyncio.run(_fetch_within(seconds, registry, access, pull))).result()


def _seconds_left() -> float:
    """How long the modules may take: no longer than the call, whose thread others wait for."""
    seconds = min(_PULL_SECONDS, current_limits().deadline - time.monotonic())
    if seconds <= 0:
        raise FetchError("no time is left for this call of the function")
    return seconds


async def _fetch_within(seconds: float, registry: str, access: RegistryAccess, pull: Pull) -> str:
    import asyncio

    from crossply.xpkg.registry_failures import PullTimedOut

    try:
        async with asyncio.timeout(seconds):
            return await _fetch(registry, access, pull)
    except TimeoutError:
        raise PullTimedOut(f"{registry} did not send it within {seconds:.3g} s") from None


async def _fetch(registry: str, access: RegistryAccess, pull: Pull) -> str:
    from urllib.request import getproxies_environment

    from crossply.xpkg.address_guard import host_of, is_public_host
    from crossply.xpkg.registry_session import Registries, Trust

    if registry not in access.private and not await is_public_host(host_of(registry)):
        raise FetchError(
            f"registry {registry} is inside of a private network; modules come from there only where "
            f"{access.setting} lists it"
        )
    fetched = frozenset((registry,))
    trust = Trust(
        plain_http=fetched if access.plain_http else frozenset(),
        must_be_public=fetched - access.private,  # also when its name resolves to something else now
        proxies=getproxies_environment(),
    )
    async with Registries(access.keychain, trust) as registries:
        return await pull(registries)


class KeyedLocks:
    """Locks that exist while somebody holds them or waits for them. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[Hashable, tuple[threading.Lock, int]] = {}
        """With how many threads each has."""

    def __len__(self) -> int:
        return len(self._locks)

    @contextmanager
    def holding(self, key: Hashable) -> Iterator[None]:
        """Hold the lock of a key."""
        with self._guard:
            lock, users = self._locks.get(key) or (threading.Lock(), 0)
            self._locks[key] = lock, users + 1
        try:
            with lock:
                yield
        finally:
            with self._guard:
                _, users = self._locks.pop(key)
                if users > 1:
                    self._locks[key] = lock, users - 1


_fetching = KeyedLocks()
