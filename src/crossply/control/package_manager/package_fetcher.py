"""Fetching packages for the control plane: from where an ImageConfig says, with pull secrets, once.

What is pulled is known by its digest from the moment its tag was looked up, is verified if an ImageConfig
asks for it, and is kept on disk. `resolve` is for the packages, `package` for their revisions, `opened` for
whoever needs the whole image.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import NamedTuple
from weakref import WeakValueDictionary

import orjson

from crossply.control.kinds import IMAGE_CONFIG
from crossply.control.package_manager.fetch_watches import SecretReads
from crossply.control.package_manager.package_content import PackageContent, read_package_content
from crossply.control.package_manager.pull_secrets import Logins, logins_for, pull_secrets_for
from crossply.control.package_manager.settings import PackageSettings
from crossply.control.package_manager.signature_check import SignatureChecker, key_secrets
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.values import Object
from crossply.xpkg.disk_space import explained_disk_errors
from crossply.xpkg.image_config_selection import (
    VERIFICATION,
    SelectedConfig,
    pull_secret,
    rewritten,
    select_config,
)
from crossply.xpkg.image_pull import pull_package, resolve, tags
from crossply.xpkg.image_reference import DOCKER_HUB, Reference, parse
from crossply.xpkg.package_cache import PackageCache
from crossply.xpkg.package_stream_extraction import NoStream, stream_of
from crossply.xpkg.package_yaml import Package
from crossply.xpkg.registry_failures import NotAllowed, NotInRegistry
from crossply.xpkg.registry_session import Registries

IF_NOT_PRESENT, ALWAYS, NEVER = "IfNotPresent", "Always", "Never"
DIGEST = "crossply.dev/digest"
"""The annotation of a revision that says which image it is, whatever its tag stands for later."""
REWRITE, PULL_SECRET, VERIFY = "RewriteImage", "SetImagePullSecret", "VerifyImage"
REASONS = (REWRITE, PULL_SECRET, VERIFY)
"""What ImageConfigs are used for here; that of runtimes is theirs."""

_RESOLVE_SECONDS, _FETCH_SECONDS = 60.0, 180.0
_AT_ONCE = 4
"""So many packages are fetched from one registry at once: a slow one does not hold up those of others."""
_log = logging.getLogger("crossply.control")


class FetchError(CrossplyError):
    """A package could not be fetched: it may not be pulled, or its registry does not answer in time."""

    code = "CP-850"
    hint = "check packagePullPolicy, and whether the registry can be reached from the control plane"


class ConfigRef(NamedTuple):
    """An ImageConfig that was used, and what for."""

    name: str
    reason: str


class Resolved(NamedTuple):
    """What an image stands for now."""

    image: str
    """The reference as requested. Names, sources and locks are derived from it."""
    reference: Reference
    """What is pulled, after rewriting, with its digest."""
    configs: tuple[ConfigRef, ...] = ()

    @property
    def digest(self) -> str:
        """`sha256:` and the hash."""
        return self.reference.digest

    @property
    def pulled(self) -> str:
        """What is pulled instead, as it would be written: the image itself where nothing is rewritten."""
        reference = parse(self.image)
        tagged = self.reference if reference.digest else self.reference._replace(digest="")
        return _spelled(str(tagged), self.image)

    @property
    def config_refs(self) -> list[Object]:
        """The same as a status lists it."""
        return [{"name": config.name, "reason": config.reason} for config in self.configs]


class Fetched(NamedTuple):
    """A package, and what it was fetched as."""

    resolved: Resolved
    content: PackageContent

    @property
    def package(self) -> Package:
        return self.content.package


class Opened(NamedTuple):
    """A session with the registries of an image, logged in to them."""

    registries: Registries
    resolved: Resolved


def source_and_version(image: str) -> tuple[str, str]:
    """The source of a package, which is its image without a tag or digest, and that tag or digest."""
    reference = parse(image)
    return _spelled(reference.name, image), reference.identifier


def _spelled(name: str, image: str) -> str:
    """A name with Docker's registry called as the user calls it."""
    if name.startswith(f"{DOCKER_HUB}/") and not image.startswith(DOCKER_HUB):
        return f"docker.io{name.removeprefix(DOCKER_HUB)}"
    return name


class _Plan(NamedTuple):
    """What the ImageConfigs make of an image, and the logins for it."""

    image: str
    reference: Reference
    configs: tuple[ConfigRef, ...]
    logins: Logins
    verification: SelectedConfig | None


class _Slots:
    """Limits concurrent fetches for each registry; holds no state for registries without fetches."""

    def __init__(self) -> None:
        self._slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, registry: str) -> asyncio.Semaphore:
        return self._slots.setdefault(registry, asyncio.Semaphore(_AT_ONCE))


class PackageFetcher:
    """Fetches packages, as the ImageConfigs and the pull secrets of a control plane say."""

    def __init__(self, client: Client, settings: PackageSettings) -> None:
        self._client, self._settings = client, settings
        self._directory = _usable(settings.directory)
        self._cache = PackageCache(self._directory) if self._directory else None
        self._verifying = SignatureChecker(client, settings.namespace)
        self._slots = _Slots()
        self.secret_reads = SecretReads()

    async def resolve(self, image: str, secrets: Iterable[str] = ()) -> Resolved:
        """What an image stands for now: asks its registry, unless it is given by its digest."""
        plan = await self._plan(image, secrets)
        async with _limited(_RESOLVE_SECONDS, image), self._session(plan) as registries:
            return await self._resolved(registries, plan, "")

    async def package(
        self, image: str, policy: str = IF_NOT_PRESENT, secrets: Iterable[str] = (), digest: str = ""
    ) -> Fetched:
        """Fetch a package; with a digest, only what is not cached is fetched."""
        plan = await self._plan(image, secrets)
        slot = self._slots.of(plan.reference.registry)
        async with slot, _limited(_FETCH_SECONDS, image), self._session(plan) as registries:
            resolved = await self._resolved(registries, plan, digest)
            stream = await self._stream(registries, plan, resolved, policy or IF_NOT_PRESENT)
            try:
                return Fetched(resolved, await read_package_content(stream, str(resolved.reference)))
            except CrossplyError as problem:
                raise problem.within("cannot parse package") from None

    async def versions(self, source: str, secrets: Iterable[str] = ()) -> list[str]:
        """The tags of a package."""
        plan = await self._plan(source, secrets)
        async with _limited(_RESOLVE_SECONDS, source), self._session(plan) as registries:
            try:
                return await tags(registries, plan.reference)
            except CrossplyError as problem:
                raise _explained(problem, plan).within(
                    f"cannot list tags for {plan.reference.name}"
                ) from None

    @asynccontextmanager
    async def opened(
        self, image: str, secrets: Iterable[str] = (), digest: str = ""
    ) -> AsyncIterator[Opened]:
        """A session to pull an image in; the image is verified already, where that is required."""
        plan = await self._plan(image, secrets)
        async with self._session(plan) as registries:
            async with _limited(_RESOLVE_SECONDS, image):
                resolved = await self._resolved(registries, plan, digest)
                await self._verify(registries, plan, resolved)
            yield Opened(registries, resolved)

    async def _plan(self, image: str, secrets: Iterable[str]) -> _Plan:
        """Read again each time: whether an image must be verified may have changed."""
        listed = await self._client.list(IMAGE_CONFIG)
        configs: list[Object] = [orjson.loads(config) for config in listed.items]
        pulled, rewriting = rewritten(configs, image)
        secret, authenticating = pull_secret(configs, pulled)
        verification = select_config(configs, pulled, VERIFICATION)
        if verification is None:
            # An image must not escape its verification by being pulled from elsewhere.
            verification = select_config(configs, image, VERIFICATION)
        used = (
            ConfigRef(rewriting, REWRITE),
            ConfigRef(authenticating, PULL_SECRET),
            ConfigRef(verification.name if verification else "", VERIFY),
        )
        reference = _parsed(image, pulled)
        names = await pull_secrets_for(self._client, self._settings, [*secrets, secret])
        # Before any is read: what appears from now on is noticed.
        self.secret_reads.record(image, [*names, *(key_secrets(verification.config) if verification else ())])
        logins = await logins_for(self._client, self._settings, names)
        return _Plan(image, reference, tuple(config for config in used if config.name), logins, verification)

    def _session(self, plan: _Plan) -> Registries:
        return Registries(plan.logins.keychain, self._settings.trust)

    async def _resolved(self, registries: Registries, plan: _Plan, digest: str) -> Resolved:
        if not digest:
            try:
                digest = await resolve(registries, plan.reference)
            except CrossplyError as problem:
                raise _explained(problem, plan).within(f"cannot resolve {plan.reference} to digest") from None
        return Resolved(plan.image, plan.reference.at(digest), plan.configs)

    async def _stream(self, registries: Registries, plan: _Plan, resolved: Resolved, policy: str) -> bytes:
        """The stream of a package: kept from before, or pulled."""
        # Signatures may become required at any time, so cached packages are verified like the rest.
        await self._verify(registries, plan, resolved)
        original = parse(plan.image)
        if self._cache is not None and policy != ALWAYS:
            cached = await asyncio.to_thread(self._cache.get, original, resolved.digest)
            if cached is not None:
                return cached
        if policy == NEVER:
            raise FetchError("package not in cache and pull policy is Never")
        try:
            stream = await self._pulled(registries, resolved)
        except CrossplyError as problem:
            raise _explained(problem, plan).within(f"cannot fetch package {resolved.pulled}") from None
        if self._cache is not None:
            await asyncio.to_thread(_keep, self._cache, original, resolved.digest, stream)
        return stream

    async def _pulled(self, registries: Registries, resolved: Resolved) -> bytes:
        with (
            explained_disk_errors(f"keep the layers of {resolved.reference}"),
            tempfile.TemporaryDirectory(prefix=".pull-", dir=self._directory or None) as directory,
        ):
            pulled = await pull_package(registries, resolved.reference, directory)
            try:
                return await asyncio.to_thread(stream_of, pulled.image)
            except NoStream as problem:
                raise problem.within("package.yaml not found") from None

    async def _verify(self, registries: Registries, plan: _Plan, resolved: Resolved) -> None:
        if plan.verification is not None:
            await self._verifying.check(registries, resolved.reference, resolved.digest, plan.verification)


def _usable(directory: str) -> str:
    """The directory, if packages can be kept in it; without one they are fetched each time."""
    try:
        if directory:
            os.makedirs(directory, mode=0o700, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                return directory
    except OSError as problem:
        _log.warning("packages are not kept in %s: %s", directory, (problem.strerror or "").lower())
    return ""


def _keep(cache: PackageCache, source: Reference, digest: str, stream: bytes) -> None:
    """Keep a package for the next time; without that it is used all the same."""
    try:
        cache.put(source, digest, stream)
    except OSError as problem:
        _log.warning("cannot keep package %s: %s", source, (problem.strerror or "").lower())


def _parsed(image: str, pulled: str) -> Reference:
    for text, description in ((image, "package reference"), (pulled, "resolved package reference")):
        try:
            reference = parse(text)
        except CrossplyError as problem:
            raise problem.within(f"cannot parse {description} {text}") from None
    return reference


def _explained(problem: CrossplyError, plan: _Plan) -> CrossplyError:
    """The problem, with the pull secrets that are not there: perhaps that is why."""
    if isinstance(problem, NotAllowed | NotInRegistry) and plan.logins.missing:
        missing = ", ".join(plan.logins.missing)
        return problem.replace(message=f"{problem} (there is no pull secret {missing})")
    return problem


@asynccontextmanager
async def _limited(seconds: float, image: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise FetchError(f"cannot fetch package {image}: not done after {seconds:.0f} seconds") from None
