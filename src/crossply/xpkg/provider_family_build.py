"""A family of providers: many small packages of one base image, each with the kinds of one service.

They share the layers of the base; what differs is what describes a package, its CRDs and examples, and the
program for each platform on top.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crossply.values.goformat import sprintf
from crossply.values.goquote import quote
from crossply.xpkg.failures import BuildFailed
from crossply.xpkg.image import Image, Layer, append
from crossply.xpkg.image_reference import LATEST
from crossply.xpkg.layer_writer import write_file_layer
from crossply.xpkg.package_build import PackageSource, pack, read_examples, reading
from crossply.xpkg.package_directory import Directory, File, read_directory

PROGRAM = "usr/local/bin/provider"
"""Where the base image expects the program of a provider."""
_EVERYTHING = "*"
"""In an override: what belongs to all services."""


class Platform(NamedTuple):
    """An operating system and an architecture, as in linux_arm64."""

    os: str
    architecture: str

    def __str__(self) -> str:
        return f"{self.os}_{self.architecture}"


def parse_platform(text: str) -> Platform:
    """Read a platform."""
    names = text.split("_")
    if len(names) != 2 or not all(names):
        raise BuildFailed(
            f"failed to parse platform name. Expected syntax is <OS>_<arch>: {text}",
            hint="linux_amd64 and linux_arm64 are platforms",
        )
    return Platform(*names)


class PackageNaming(NamedTuple):
    """What the packages of a family are called, and where they go."""

    provider: str
    url_format: str
    overrides: Mapping[str, str]
    """Services whose repository is called otherwise."""
    suffix: str = ""

    def repository(self, service: str) -> str:
        """What a package calls itself."""
        return self.overrides.get(service) or f"{self.provider}-{service}"

    def url(self, service: str) -> str:
        """Where a package is pushed to."""
        name = self.repository(service)
        if self.suffix and service in self.overrides:
            name = f"{self.overrides[service]}-{self.suffix}"
        elif self.suffix:
            name = f"{self.provider}-{self.suffix}-{service}"
        return sprintf(self.url_format, [name])

    def file(self, service: str) -> str:
        """The name of a package that is stored."""
        _, colon, version = self.url_format.rpartition(":")
        version = version if colon and "/" not in version else LATEST
        return f"{self.provider}-{service}-{version}.xpkg"


class Sources(NamedTuple):
    """Where the parts of the packages are."""

    crds: str
    crd_overrides: Mapping[str, str]
    examples: str
    example_overrides: Mapping[str, str]
    programs: str
    ignored: Sequence[str] = ()

    def prefix(self, service: str) -> str:
        """What the files of a service's CRDs begin with: they are named by their groups."""
        group = self.crd_overrides.get(service) or service
        return "" if group == _EVERYTHING else f"{group}."

    def content(self, service: str, metadata: File) -> PackageSource:
        """The package of a service without its program, the same for all platforms."""
        with reading("failed to initialize the CRD parser backend"):
            directory = read_directory(self.crds, self.ignored, self.examples, self.prefix(service))
        with reading():
            examples = read_examples(self._examples(service), self.ignored)
        return pack(Directory((metadata, *directory.files)), examples)

    def _examples(self, service: str) -> str:
        group = self.example_overrides.get(service) or service
        return self.examples if group == _EVERYTHING else os.path.join(self.examples, group)

    def with_program(self, image: Image, service: str, platform: Platform, directory: str) -> Image:
        """The image with the program of a service on top; the layer is kept in a directory."""
        path = os.path.join(self.programs, str(platform), service)
        try:
            written = write_file_layer(path, PROGRAM, 0o755, directory)
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            context = (
                f"failed to read {quote(service)} provider binary for {platform} platform from path: {path}"
            )
            raise BuildFailed(
                f"{context}: open {path}: {reason}",
                hint="programs are at <provider-bin-root>/<OS>_<arch>/<service>; build it first, or leave "
                "out the service or the platform",
            ) from None
        return append(image, Layer(written.blob), written.diff_id)


def check_base(image: Image, platform: Platform, name: str) -> None:
    """Raise if a base image is for another platform."""
    base = image.platform
    base_platform = (base["os"] or platform.os, base["architecture"] or platform.architecture)
    if base_platform != platform:
        raise BuildFailed(
            f"the base image {name} is for {'_'.join(base_platform)}, not for {platform}",
            hint=f"build it with --platform={platform.os}/{platform.architecture}",
        )
