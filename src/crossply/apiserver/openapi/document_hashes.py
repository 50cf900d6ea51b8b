"""The group versions that have an OpenAPI document, and a tag of the content of each.

The tag comes from what a document is made of, so that an index with the tags of all documents can be sent
before any of them is built.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import orjson

from crossply.apiserver.served_groups import Groups
from crossply.apiserver.served_resources import Resource
from crossply.version import __version__


class GroupVersion(NamedTuple):
    name: str
    resources: list[Resource]
    tag: str
    weight: int
    """Of building its document, in bytes of JSON."""


def group_versions(groups: Groups) -> dict[str, GroupVersion]:
    """The versions of some groups by their place: `api/v1`, `apis/apps/v1`."""
    return {
        _place(group, version): _group_version(version, resources)
        for group, versions in groups.items()
        for version, resources in versions.items()
    }


def _place(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _group_version(version: str, resources: list[Resource]) -> GroupVersion:
    content = hashlib.sha512(f"{__version__} {version}".encode())
    for resource in resources:
        content.update(f"\n{resource.key} ".encode())
        if resource.custom:
            content.update(resource.digest or _digest(resource))
    weight = sum(resource.versions[version].schema_size for resource in resources)
    return GroupVersion(version, resources, content.hexdigest().upper(), weight)


def _digest(resource: Resource) -> bytes:
    """The digest of a resource without a stored definition."""
    schemas = {name: version.schema for name, version in resource.versions.items()}
    return hashlib.sha512(repr(resource).encode() + orjson.dumps(schemas)).digest()
