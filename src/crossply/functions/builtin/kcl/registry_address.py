"""Addresses of modules in registries: `oci://registry/repository?tag=1.0.0`, or `:1.0.0`, or `@sha256:…`."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from crossply.functions.builtin.kcl.module_failures import ModuleError
from crossply.functions.builtin.kcl.program_source import SCHEME


class ModuleAddress(NamedTuple):
    """A module in a registry."""

    repository: str
    """Registry and repository."""
    tag: str = ""
    """Empty for the highest version."""
    digest: str = ""
    module: str = ""
    """The name of the module in a repository of several."""

    @property
    def registry(self) -> str:
        return self.repository.partition("/")[0]

    def __str__(self) -> str:
        version = f"@{self.digest}" if self.digest else f":{self.tag}" if self.tag else ""
        return f"{SCHEME}{self.repository}{version}"


def read_address(text: str, version: str = "") -> ModuleAddress:
    """Read an address; a version in the text wins. Raises ModuleError."""
    split = urlsplit(text.strip())
    repository = f"{split.netloc}{split.path}".rstrip("/")
    query = parse_qs(split.query)
    if split.scheme != "oci" or not split.netloc or not split.path.strip("/") or split.username:
        raise ModuleError(f"{text} is no address of a module: expected oci://REGISTRY/REPOSITORY?tag=VERSION")
    repository, _, digest = repository.partition("@")
    base, colon, tag = repository.rpartition(":")
    if colon and "/" not in tag:
        repository = base
    else:
        tag = ""
    module, _, module_version = query.get("mod", [""])[0].partition(":")
    return ModuleAddress(
        repository, query.get("tag", [""])[0] or tag or version or module_version, digest, module
    )
