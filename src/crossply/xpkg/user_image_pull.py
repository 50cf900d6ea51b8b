"""Images of registries for commands: pulled with the user's logins and proxies, with a progress bar."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, TextIO

from crossply.errors import CrossplyError

if TYPE_CHECKING:
    from crossply.xpkg.image import Image
    from crossply.xpkg.image_pull import PulledImage
    from crossply.xpkg.image_reference import Reference
    from crossply.xpkg.registry_session import Registries


class RegistryUser(Protocol):
    """Whose logins and proxies are used, and where progress is shown; a command's invocation is one."""

    @property
    def environ(self) -> Mapping[str, str]: ...

    @property
    def stderr(self) -> TextIO: ...


class ProcessUser(NamedTuple):
    """The user of this process."""

    environ: Mapping[str, str]
    stderr: TextIO


@contextlib.contextmanager
def error_prefix(prefix: str) -> Iterator[None]:
    """Prefix the messages of errors."""
    try:
        yield
    except CrossplyError as problem:
        raise problem.within(prefix) from None


def pull(user: RegistryUser, reference: Reference, directory: str, architecture: str = "") -> Image:
    """An image from its registry, its blobs kept in a directory."""
    from crossply.xpkg.image_pull import pull_image

    return _pulled(
        user, reference, lambda registries: pull_image(registries, reference, directory, architecture)
    )


def pull_content(user: RegistryUser, reference: Reference, directory: str) -> Image:
    """Of an image in its registry only what a package needs."""
    from crossply.xpkg.image_pull import pull_package

    return _pulled(user, reference, lambda registries: pull_package(registries, reference, directory))


def _pulled(
    user: RegistryUser, reference: Reference, fetch: Callable[[Registries], Awaitable[PulledImage]]
) -> Image:
    import asyncio

    async def main() -> Image:
        async with session(user, f"pulling {reference.repository}") as registries:
            return (await fetch(registries)).image

    return asyncio.run(main())


def package_stream(user: RegistryUser, image: str) -> bytes:
    """The stream of a package in a registry; its version may be a constraint, and the best one is taken.

    Of an image that is no package, such as Crossplane's own, it is the CRDs that it brings.
    """
    import tempfile

    from crossply.xpkg.package_stream_extraction import NoStream, crds_of, stream_of

    with tempfile.TemporaryDirectory(prefix="crossply-") as directory:
        package = pull_content(user, _chosen(user, image), directory)
        try:
            return stream_of(package)
        except NoStream:
            return crds_of(package)


def _chosen(user: RegistryUser, image: str) -> Reference:
    """The image that is meant, where `source:constraint` may stand for one."""
    from crossply.xpkg.failures import BadReference
    from crossply.xpkg.image_reference import parse

    try:
        return parse(image)
    except BadReference:
        source, _, constraint = image.rpartition(":")
        return parse(source)._replace(tag=best_tag(user, source, constraint))


def best_tag(user: RegistryUser, source: str, constraint: str) -> str:
    """The highest version in a registry that satisfies a constraint."""
    import asyncio

    from crossply.xpkg.dependencies import Dependency, DependencyError, best_version
    from crossply.xpkg.image_pull import tags
    from crossply.xpkg.image_reference import parse

    reference = parse(source)

    async def offered() -> list[str]:
        async with session(user, "") as registries:
            return await tags(registries, reference)

    best = best_version([Dependency(source, constraint)], asyncio.run(offered()))
    if best is None:
        raise DependencyError(f"no version of {source} is {constraint}")
    return best


@contextlib.asynccontextmanager
async def session(user: RegistryUser, label: str, insecure: bool = False) -> AsyncIterator[Registries]:
    """A session with registries as the user: their logins, their proxies, and their terminal to show on."""
    from urllib.request import getproxies_environment

    from crossply.xpkg.keychain import default_keychain
    from crossply.xpkg.progress import ProgressBar
    from crossply.xpkg.registry_session import Registries, Trust

    trust = Trust(insecure=insecure, proxies=getproxies_environment())
    with ProgressBar(user.stderr, label) as bar:
        async with Registries(default_keychain(user.environ), trust, bar) as registries:
            yield registries
