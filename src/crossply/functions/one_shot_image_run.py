"""Running an image to completion on this machine: bytes on its stdin, bytes from its stdout.

For the container functions of Compositions, for functions that are packaged like that, and for others who
ask a runner to do it for them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import NamedTuple

from crossply.containers.image_pull import IF_NOT_PRESENT, ImageSource, pull
from crossply.containers.image_store import Store, StoredImage
from crossply.containers.run_to_completion import run_once
from crossply.containers.settings import ISOLATED, Limits, Settings
from crossply.functions.failures import FunctionCrashed, FunctionSettingsWrong, FunctionTimedOut
from crossply.values.quantity import QuantityError, parse
from crossply.xpkg.keychain import CombinedKeychain, Keychain, KeychainError, from_secret
from crossply.xpkg.progress import Progress
from crossply.xpkg.registry_session import Trust

_SECRET_FORMS = ((".dockerconfigjson", b"%s"), (".dockercfg", b'{"auths":%s}'))


class ImageRun(NamedTuple):
    """One image to run, and what it may use."""

    image: str
    pull_policy: str = IF_NOT_PRESENT
    keychain: Keychain | None = None
    memory: str = ""
    """Kubernetes quantities; empty for the default."""
    cpu: str = ""
    network: str = ISOLATED
    timeout: float = 20.0


class ImageRuns:
    """Runs images out of one store."""

    def __init__(self, store: Store, base: Settings = Settings(), trust: Trust | None = None) -> None:  # noqa: B008
        self._store = store
        self._base = base
        self._trust = trust

    def run(self, image_run: ImageRun, stdin: bytes, most_seconds: float) -> bytes:
        """What an image writes on stdout when it is given these bytes; it has at most so many seconds."""
        end = time.monotonic() + most_seconds
        settings = _settings(self._base, image_run)
        image = fetch_within(most_seconds, image_run, self._store, self._trust)
        left = max(end - time.monotonic(), 0.001)
        return completed(image, stdin, settings._replace(timeout=min(settings.timeout, left)))


def fetch_within(
    seconds: float, image_run: ImageRun, store: Store, trust: Trust | None, progress: Progress | None = None
) -> StoredImage:
    """An image, unpacked; pulled, where its policy wants that. Not to be called in an event loop."""
    source = ImageSource(image_run.keychain, trust, progress)

    async def fetched() -> StoredImage:
        async with asyncio.timeout(seconds):
            return await pull(image_run.image, store, image_run.pull_policy, source)

    try:
        return asyncio.run(fetched())
    except TimeoutError:
        raise FunctionTimedOut(f"its image is not here after {seconds:.0f} s", hint=_PULL_HINT) from None


_PULL_HINT = "pull it once with more time, or from a registry that is nearer"


def completed(image: StoredImage, stdin: bytes, settings: Settings) -> bytes:
    """What a container writes on stdout; one that fails is an error with the last lines of its stderr."""
    finished = run_once(image, stdin, settings)
    if finished.status == 0:
        return finished.stdout
    signal = finished.status - 128
    reason = f"signal {signal}" if signal > 0 else f"exit status {finished.status}"
    output = finished.stderr.strip()
    raise FunctionCrashed(f"its container ended with {reason}{': ' if output else ''}{output}")


def _settings(base: Settings, image_run: ImageRun) -> Settings:
    limits = base.limits
    if image_run.memory:
        limits = limits._replace(memory=int(_amount(image_run.memory, "memory")))
    if image_run.cpu:
        limits = limits._replace(cpu=_amount(image_run.cpu, "cpu"))
    if image_run.timeout <= 0:
        raise FunctionSettingsWrong("its timeout must be more than nothing")
    return base._replace(limits=_within(limits), network=image_run.network, timeout=image_run.timeout)


def _within(limits: Limits) -> Limits:
    """Temporary files are in memory, so that there is never more room for them than that."""
    return limits._replace(scratch=min(limits.scratch, limits.memory))


def _amount(text: str, resource: str) -> float:
    try:
        amount = parse(text).as_float()
    except QuantityError as problem:
        raise FunctionSettingsWrong(f"its {resource} limit {text!r} is not a quantity: {problem}") from None
    if amount <= 0:
        raise FunctionSettingsWrong(f"its {resource} limit must be more than nothing, not {text}")
    return amount


def keychain_of(secrets: Mapping[str, Mapping[str, bytes]], others: Keychain | None) -> Keychain:
    """The logins of pull secrets, by their names, and others after them."""
    keychains: list[Keychain] = []
    for name, data in secrets.items():
        contents = [form % data[key] for key, form in _SECRET_FORMS if key in data]
        if not contents:
            raise KeychainError(
                f"the pull secret {name} has neither .dockerconfigjson nor .dockercfg",
                hint="make it with: kubectl create secret docker-registry",
            )
        keychains.append(from_secret(contents[0], name))
    return CombinedKeychain(*keychains, *([others] if others is not None else ()))
