"""`crossply xpkg batch`: build and push the smaller packages of a family of providers.

`xpkg.provider_family_build` knows what belongs into which package, `batch_metadata` how it is described; this
is the order of it all: the base images first, then every service by itself, so many at once as are allowed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crossply.cli.framework.command import Command, Invocation
from crossply.cli.xpkg.batch_flags import FLAGS
from crossply.errors import CrossplyError
from crossply.values.backoff import pause_after
from crossply.values.goquote import quote
from crossply.xpkg.user_image_pull import error_prefix

if TYPE_CHECKING:
    from crossply.cli.xpkg.batch_metadata import Metadata
    from crossply.xpkg.image import Image
    from crossply.xpkg.image_reference import Reference
    from crossply.xpkg.provider_family_build import PackageNaming, Platform, Sources
    from crossply.xpkg.registry_session import Registries

    Bases = dict[Platform, Image]

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
"""Seconds between the attempts to push."""


class BatchError(CrossplyError):
    """A package of a family of providers could not be built, stored or pushed."""

    code = "CP-599"


def run(invocation: Invocation) -> int:
    import asyncio
    import tempfile

    from crossply.cli.xpkg.batch_metadata import Metadata

    url_format = invocation["family-package-url-format"]
    if "%s" not in url_format and not invocation["build-only"]:
        raise BatchError(
            f"the family package URL format {quote(url_format)} does not contain %s",
            hint="write %s for the name of each package: registry.example.org/team/%s:v1.0.0",
        )
    metadata = Metadata(invocation)
    with tempfile.TemporaryDirectory(prefix="crossply-") as directory:
        bases = _bases(invocation, directory)
        asyncio.run(Batch(invocation, metadata, bases, directory).run())
    return 0


def _bases(invocation: Invocation, directory: str) -> Bases:
    """The base image for each platform: its name ends in the architecture."""
    from crossply.cli.xpkg.local_images import local_or_pulled
    from crossply.xpkg.image_reference import parse
    from crossply.xpkg.provider_family_build import check_base, parse_platform

    bases: Bases = {}
    for platform in map(parse_platform, invocation["platform"]):
        reference = parse(f"{invocation['family-base-image']}-{platform.architecture}")
        place = os.path.join(directory, str(platform))
        os.makedirs(place, exist_ok=True)
        with error_prefix(f"failed to get the base image {reference}"):
            bases[platform] = local_or_pulled(invocation, reference, place, platform.architecture)
        check_base(bases[platform], platform, str(reference))
    return bases


class Batch:
    """One run over all services."""

    def __init__(self, invocation: Invocation, metadata: Metadata, bases: Bases, directory: str) -> None:
        self._invocation = invocation
        self._metadata = metadata
        self._bases = bases
        self._directory = directory
        self._naming = _naming(invocation)
        self._sources = _sources(invocation)

    async def run(self) -> None:
        """Process all services; a failure does not stop the others."""
        import asyncio

        from crossply.xpkg.user_image_pull import session

        services: list[str] = list(dict.fromkeys(self._invocation["smaller-providers"]))
        room = asyncio.Semaphore(self._invocation["concurrency"] or max(len(services), 1))

        async def push_one(service: str) -> CrossplyError | None:
            async with room:
                try:
                    await self._process(registries, service)
                except CrossplyError as problem:
                    self._invocation.log(f"the package of {service} has failed: {problem}")
                    return problem
            return None

        async with session(self._invocation, f"pushing {len(services)} packages") as registries:
            outcomes = await asyncio.gather(*map(push_one, services))
        problems = [
            (service, problem) for service, problem in zip(services, outcomes, strict=True) if problem
        ]
        if problems:
            raise _failed(problems)

    async def _process(self, registries: Registries, service: str) -> None:
        import asyncio
        import tempfile

        from crossply.cli.xpkg.push import target

        reference = None
        if not self._invocation["build-only"]:
            with error_prefix(f"failed to push smaller provider package: {service}"):
                reference = target(self._naming.url(service))
        with tempfile.TemporaryDirectory(dir=self._directory) as directory:
            images = await asyncio.to_thread(self._build, service, directory)
            if service in self._invocation["store-packages"]:
                await asyncio.to_thread(self._store, service, images)
            if reference is not None:
                with error_prefix(f"failed to push smaller provider package: {service}"):
                    await self._push(registries, service, images, reference)

    def _build(self, service: str, directory: str) -> Bases:
        """The package for each platform; what they have in common is made once."""
        metadata = self._metadata.file(service, self._naming.repository(service))
        with error_prefix(f"failed to build smaller provider package: {service}"):
            content = self._sources.content(service, metadata)
        if not content.package.objects:
            self._invocation.stderr.write(
                f"crossply: warning: the package of {service} has no CRDs: no file below "
                f"{self._sources.crds} begins with {self._sources.prefix(service)} "
                "(see --crd-group-override)\n"
            )
        return {
            platform: self._sources.with_program(content.onto(base), service, platform, directory)
            for platform, base in self._bases.items()
        }

    def _store(self, service: str, images: Bases) -> None:
        from crossply.xpkg.archive_writer import write_archive

        for platform, image in images.items():
            directory = os.path.abspath(os.path.join(self._invocation["output-dir"] or "", str(platform)))
            path = os.path.join(directory, self._naming.file(service))
            try:
                os.makedirs(directory, exist_ok=True)
                write_archive(image, path)
            except OSError as problem:
                reason = (problem.strerror or str(problem)).lower()
                message = f"failed to open package file for writing: {path}: open {path}: {reason}"
                raise BatchError(message, hint="check --output-dir") from None
            self._invocation.log(f"xpkg for service {quote(service)} saved to {path}")

    async def _push(self, registries: Registries, service: str, images: Bases, reference: Reference) -> None:
        """Push a package; again where that fails, unless it was refused for who we are."""
        import asyncio

        from crossply.cli.xpkg.push import push_package
        from crossply.xpkg.registry_failures import NotAllowed

        names = [f"{service}-{platform}" for platform in images]
        retries = self._invocation["push-retry"]
        for attempt in range(retries + 1):
            self._invocation.log(f"pushing {reference}" + (f", retry {attempt}" if attempt else ""))
            try:
                await push_package(registries, names, list(images.values()), reference, {})
                return
            except CrossplyError as problem:
                if attempt == retries or isinstance(problem, NotAllowed):
                    raise
                self._invocation.log(f"failed to push {reference}, will retry: {problem}")
            await asyncio.sleep(pause_after(attempt + 1, FIRST_PAUSE, LONGEST_PAUSE))


def _failed(problems: list[tuple[str, CrossplyError]]) -> BatchError:
    """One error for all services, with the place and hint of the first that has them."""
    sentence = ""
    for service, problem in problems:
        message = f"\nfailed to process smaller provider package for {quote(service)}: {problem}"
        sentence = f"{message}: {sentence}" if sentence else message
    return BatchError(
        f"processing of at least one smaller provider has failed: {sentence}",
        place=next((problem.place for _, problem in problems if problem.place), ""),
        hint=next((problem.hint for _, problem in problems if problem.hint), ""),
    )


def _naming(invocation: Invocation) -> PackageNaming:
    from crossply.xpkg.provider_family_build import PackageNaming

    return PackageNaming(
        invocation["provider-name"],
        invocation["family-package-url-format"],
        invocation["package-repo-override"],
        invocation["provider-name-suffix-for-push"] or "",
    )


def _sources(invocation: Invocation) -> Sources:
    from crossply.xpkg.provider_family_build import Sources

    return Sources(
        invocation["crd-root"],
        invocation["crd-group-override"],
        invocation["examples-root"],
        invocation["examples-group-override"],
        invocation["provider-bin-root"] or "",
        invocation["ignore"],
    )


COMMAND = Command(
    "batch",
    "Build and push the smaller packages of a family of providers.",
    run,
    flags=FLAGS,
    description=(
        "Each package has the layers of the base image, its metadata from the template, the CRDs whose\n"
        "files begin with <service>., the examples in the folder <service>, and on top the program at\n"
        "<provider-bin-root>/<OS>_<arch>/<service> as /usr/local/bin/provider. With several platforms a\n"
        "package is pushed as an index of them.\n\n"
        "Base images are taken from a container engine where one runs that has them, else from their\n"
        "registry. In an override * stands for the CRDs or examples of all services."
    ),
    examples=(
        "crossply xpkg batch --family-base-image=registry.example.org/team/provider-sky:v1 \\\n"
        "    --provider-name=provider-sky --smaller-providers=moon,sun --provider-bin-root=bin \\\n"
        "    --family-package-url-format=registry.example.org/team/%s:v1.0.0",
        "crossply xpkg batch --family-base-image=provider-sky --provider-name=provider-sky --build-only \\\n"
        "    --family-package-url-format=%s:v1.0.0 --crd-group-override='monolith=*' \\\n"
        "    --store-packages=monolith -o packages",
    ),
)
