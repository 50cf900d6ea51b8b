"""References to package images, split into registry, repository and tag.

The rules are those of the library that Crossplane uses, so that a version is shown where it shows one.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.xpkg.image_reference import is_registry

_TAG_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
_REPOSITORY_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-./")
_LABEL_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_HUB = ("", "docker.io", "index.docker.io")


class Image(NamedTuple):
    """An image's parts."""

    registry: str
    repository: str
    tag: str


def parse_tagged(text: str) -> Image | None:
    """The parts of a reference that names its registry and its tag; None for any other."""
    image = _split(text)
    if image is None or not image.registry or not image.tag:
        return None
    if image.registry in _HUB:
        return image._replace(registry="index.docker.io") if "/" in image.repository else None
    return image


def package_name(source: str) -> str:
    """The name of a package that is installed as a dependency: a DNS label of its repository."""
    image = _split(source.partition("@")[0])
    if image is None:
        return dns_label(source)
    implied = image.registry in _HUB and "/" not in image.repository
    return dns_label(f"library/{image.repository}" if implied else image.repository)


def dns_label(text: str) -> str:
    """The text with what a DNS label cannot hold left out."""
    label = ""
    for position, char in enumerate(text[:63]):
        if char in _LABEL_CHARS:
            label += char
        elif char in "./:-" and position not in (0, 62, len(text) - 1):
            label += "-"
    return label.strip("-")


def _split(text: str) -> Image | None:
    base, colon, tag = text.rpartition(":")
    if not colon or "/" in tag:
        base, tag = text, ""
    elif not 1 <= len(tag) <= 128 or not _TAG_CHARS.issuperset(tag):
        return None
    registry, slash, repository = base.partition("/")
    if not slash or not is_registry(registry):
        registry, repository = "", base
    if not 2 <= len(repository) <= 255 or not _REPOSITORY_CHARS.issuperset(repository):
        return None
    return Image(registry, repository, tag)
