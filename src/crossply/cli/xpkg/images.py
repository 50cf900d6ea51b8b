"""Images for the `xpkg` commands: from a file, or from a registry."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING

from crossply.cli.framework.command import Invocation
from crossply.errors import CrossplyError

if TYPE_CHECKING:
    from crossply.xpkg.image import Image
    from crossply.xpkg.pulling import Pulled
    from crossply.xpkg.references import Reference
    from crossply.xpkg.registry import Registries

ENDING = ".xpkg"


class ImageError(CrossplyError):
    """A package file could not be found or opened."""

    code = "CP-591"


@contextlib.contextmanager
def story(begin: str) -> Iterator[None]:
    """Begin the sentence of whatever goes wrong."""
    try:
        yield
    except CrossplyError as problem:
        raise problem.within(begin) from None


def read_image(path: str) -> Image:
    """The image in a file."""
    from crossply.xpkg.archive import read_archive

    try:
        return read_archive(path)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise ImageError(f"open {path}: {reason}", hint="check the path") from None


def only_package(directory: str, choose: str) -> str:
    """The one package file in a directory; `choose` is a command line that names one of several."""
    found = sorted(name for name in os.listdir(directory) if name.endswith(ENDING))
    if not found:
        problem = "directory does not contain a compiled crossplane package"
        hint = f"build one with: crossply xpkg build, or name one: {choose}"
    elif len(found) > 1:
        problem = "directory contains multiple compiled crossplane packages"
        hint = f"name one of {', '.join(found)}: {choose}"
    else:
        return os.path.join(directory, found[0])
    raise ImageError(f"failed to find a package in current working directory: {problem}", hint=hint)


def from_daemon(invocation: Invocation, reference: Reference, directory: str) -> Image:
    """An image that a container engine on this machine has."""
    from crossply.functions.docker_engine import find_engine

    path = os.path.join(directory, "image.tar")
    find_engine(invocation.environ).save(str(reference), path)
    return read_image(path)


def local_or_pulled(
    invocation: Invocation, reference: Reference, directory: str, architecture: str = ""
) -> Image:
    """An image of a container engine where one runs that has it; else from its registry."""
    from crossply.functions.docker_engine import find_engine
    from crossply.functions.failures import ContainerEngineUnavailable

    try:
        here = find_engine(invocation.environ).has_image(str(reference))
    except ContainerEngineUnavailable:
        here = False
    if here:
        return from_daemon(invocation, reference, directory)
    return pull(invocation, reference, directory, architecture)


def pull(invocation: Invocation, reference: Reference, directory: str, architecture: str = "") -> Image:
    """An image from its registry, its blobs kept in a directory."""
    from crossply.xpkg.pulling import pull_image

    return _pulled(
        invocation, reference, lambda registries: pull_image(registries, reference, directory, architecture)
    )


def pull_content(invocation: Invocation, reference: Reference, directory: str) -> Image:
    """Of an image in its registry only what a package needs."""
    from crossply.xpkg.pulling import pull_package

    return _pulled(invocation, reference, lambda registries: pull_package(registries, reference, directory))


def _pulled(
    invocation: Invocation, reference: Reference, fetch: Callable[[Registries], Awaitable[Pulled]]
) -> Image:
    import asyncio

    async def main() -> Image:
        async with session(invocation, f"pulling {reference.repository}") as registries:
            return (await fetch(registries)).image

    return asyncio.run(main())


def package_stream(invocation: Invocation, image: str) -> bytes:
    """The stream of a package in a registry; its version may be a constraint, and the best one is taken.

    Of an image that is no package, such as Crossplane's own, it is the CRDs that it brings.
    """
    import tempfile

    from crossply.xpkg.contents import NoStream, crds_of, stream_of

    with tempfile.TemporaryDirectory(prefix="crossply-") as directory:
        found = pull_content(invocation, _chosen(invocation, image), directory)
        try:
            return stream_of(found)
        except NoStream:
            return crds_of(found)


def _chosen(invocation: Invocation, image: str) -> Reference:
    """The image that is meant, where `source:constraint` may stand for one."""
    from crossply.xpkg.failures import BadReference
    from crossply.xpkg.references import parse

    try:
        return parse(image)
    except BadReference:
        source, _, constraint = image.rpartition(":")
        return parse(source)._replace(tag=best_tag(invocation, source, constraint))


def best_tag(invocation: Invocation, source: str, constraint: str) -> str:
    """The highest version in a registry that satisfies a constraint."""
    import asyncio

    from crossply.xpkg.dependencies import Dependency, DependencyError, best_version
    from crossply.xpkg.pulling import tags
    from crossply.xpkg.references import parse

    reference = parse(source)

    async def offered() -> list[str]:
        async with session(invocation, "") as registries:
            return await tags(registries, reference)

    best = best_version([Dependency(source, constraint)], asyncio.run(offered()))
    if best is None:
        raise DependencyError(f"no version of {source} is {constraint}")
    return best


@contextlib.asynccontextmanager
async def session(invocation: Invocation, what: str, insecure: bool = False) -> AsyncIterator[Registries]:
    """A session with registries as the user: their logins, their proxies, and their terminal to show on."""
    from urllib.request import getproxies_environment

    from crossply.xpkg.keychain import default_keychain
    from crossply.xpkg.progress_bar import Bar
    from crossply.xpkg.registry import Registries, Trust

    trust = Trust(insecure=insecure, proxies=getproxies_environment())
    with Bar(invocation.stderr, what) as bar:
        async with Registries(default_keychain(invocation.environ), trust, bar) as registries:
            yield registries
