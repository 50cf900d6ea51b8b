"""Names of images: registry, repository, and a tag or a digest."""

from __future__ import annotations

import re
from typing import NamedTuple

from crossply.xpkg.failures import BadReference

DOCKER_HUB = "index.docker.io"
LATEST = "latest"
_DOCKER_HUB_NAMES = ("docker.io", DOCKER_HUB, "registry-1.docker.io", "registry.hub.docker.com")
_HTTPS_PORT = ":443"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_REPOSITORY_CHARS = f"{_LETTERS}0123456789_-./"
_TAG_CHARS = f"{_LETTERS}0123456789_-.{_LETTERS.upper()}"
_AUTHORITY = re.compile(r"(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._~-]+)(?::\d{1,5})?")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class Reference(NamedTuple):
    """One image in one registry. If there is a digest, the tag is informational."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def name(self) -> str:
        """Registry and repository."""
        return f"{self.registry}/{self.repository}"

    @property
    def identifier(self) -> str:
        """What to ask the registry for: the digest, or else the tag."""
        return self.digest or self.tag

    def at(self, digest: str) -> Reference:
        """The same image, pinned."""
        return self._replace(digest=digest)

    def __str__(self) -> str:
        return f"{self.name}@{self.digest}" if self.digest else f"{self.name}:{self.tag}"


def parse(text: str, *, strict: bool = False) -> Reference:
    """Read a reference with a tag or a digest; strictly, both registry and tag must be given."""
    for read in (parse_tag, parse_digest):
        try:
            return read(text, strict=strict)
        except BadReference:
            continue
    raise BadReference(f"could not parse reference: {text}")


def parse_tag(text: str, *, strict: bool = False) -> Reference:
    """Read a reference with a tag; the error says why it is none."""
    base, colon, tag = text.rpartition(":")
    if not colon or "/" in tag:
        base, tag = text, ""
    elif not tag:
        raise BadReference(f"{text} must specify a tag name after the colon")
    if tag or strict:
        _check("tag", tag, _TAG_CHARS, 1, 128)
    registry, repository = _parse_repository(base, strict)
    return Reference(registry, repository, tag or LATEST)


def parse_digest(text: str, *, strict: bool = False) -> Reference:
    """Read a reference with a digest."""
    base, at, digest = text.partition("@")
    if not at or "@" in digest:
        raise BadReference(
            f"a digest must contain exactly one '@' separator (e.g. registry/repository@digest) saw: {text}"
        )
    check_digest(digest)
    try:
        tagged = parse_tag(base, strict=strict)
    except BadReference:
        return Reference(*_parse_repository(base, strict), digest=digest)
    return tagged._replace(digest=digest, tag=tagged.tag if ":" in base.rpartition("/")[2] else "")


def full_repository(text: str) -> str:
    """The whole name of a repository, where the registry may be left out if it is Docker's."""
    return "/".join(_parse_repository(text, strict=False))


def spellings(image: str) -> tuple[str, ...]:
    """All texts that name the same image: first the given one, then other spellings of its registry.

    What is decided by the beginning of an image's name must hold however a user spells it.
    """
    registry, slash, rest = image.partition("/")
    if not slash or not is_registry(registry):
        registry, rest = DOCKER_HUB, image
    registry = _canonical(registry)
    host = registry.removesuffix(_HTTPS_PORT)
    if host in _DOCKER_HUB_NAMES:
        paths = dict.fromkeys((rest, rest.removeprefix("library/")))
        paths |= dict.fromkeys(f"library/{path}" for path in [*paths] if "/" not in path)
        hosts: tuple[str, ...] = _DOCKER_HUB_NAMES
    else:
        paths = {rest: None}
        hosts = (registry,) if _has_port(host) else (host, f"{host}{_HTTPS_PORT}")
    return tuple(dict.fromkeys([image, *(f"{host}/{path}" for host in hosts for path in paths)]))


def canonical_source(source: str) -> str:
    """A source as `parse` names it, but with Docker's registry left as it is written, or left out."""
    registry, slash, repository = source.partition("/")
    return f"{_canonical(registry)}/{repository}" if slash and is_registry(registry) else source


def _has_port(registry: str) -> bool:
    return ":" in registry.rpartition("]")[2]


def _canonical(registry: str) -> str:
    """A registry as it is spelled everywhere: host names have no case, and ports no leading zeros."""
    host, colon, port = registry.rpartition(":") if _has_port(registry) else (registry, "", "")
    return f"{host.lower().rstrip('.')}{colon}{port.lstrip('0') or port}"


def check_digest(digest: str) -> str:
    """The digest, if it is one."""
    if not _DIGEST.fullmatch(digest):
        raise BadReference(f"unsupported digest algorithm: {digest}")
    return digest


def is_registry(part: str) -> bool:
    """Return whether the first part of a name is a registry, and not one of a repository on Docker's."""
    return "." in part or ":" in part or part == "localhost"


def _parse_repository(text: str, strict: bool) -> tuple[str, str]:
    if not text:
        raise BadReference("a repository name must be specified")
    registry, slash, repository = text.partition("/")
    if not slash or not is_registry(registry):
        registry, repository = "", text
    _check("repository", repository, _REPOSITORY_CHARS, 2, 255)
    if any(part in ("", ".", "..") for part in repository.split("/")):
        raise BadReference(f"repository can not contain empty, . or .. parts: {repository}")
    if registry and not _AUTHORITY.fullmatch(registry):
        raise BadReference(f"registries must be valid RFC 3986 URI authorities: {registry}")
    if strict and not registry:
        raise BadReference("strict validation requires the registry to be explicitly defined")
    registry = _canonical(registry)
    if registry in ("", "docker.io"):
        registry = DOCKER_HUB
    if registry == DOCKER_HUB and "/" not in repository:
        if strict:
            raise BadReference("strict validation requires the full repository path (missing 'library')")
        repository = f"library/{repository}"
    return registry, repository


def _check(part: str, text: str, allowed: str, least: int, most: int) -> None:
    if not least <= len(text) <= most:
        raise BadReference(f"{part} must be between {least} and {most} characters in length: {text}")
    if text.strip(allowed):
        raise BadReference(f"{part} can only contain the characters `{allowed}`: {text}")
