"""The resources of a registry by group and version, in the order in which clients see them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from crossply.apiserver.served_resources import Registry, Resource

_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_STAGES = {None: 2, "beta": 1, "alpha": 0}

Groups = dict[str, dict[str, list[Resource]]]
"""Resources by group and version."""


class GroupIndex:
    """The served groups of a registry, sorted once after each change."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._generation = -1
        self._groups: Groups = {}

    @property
    def generation(self) -> int:
        return self._registry.generation

    def groups(self) -> Groups:
        if self._generation != self._registry.generation:
            self._generation = self._registry.generation
            self._groups = served_groups(self._registry)
        return self._groups


def served_groups(registry: Registry) -> Groups:
    """Resources by group and version: built-in groups in their own order, then others by name; versions by
    stability.
    """
    groups: dict[str, dict[str, list[Resource]]] = {}
    resources = list(registry.all())
    resources.sort(key=lambda resource: (resource.custom, resource.group if resource.custom else ""))
    for resource in resources:
        versions = groups.setdefault(resource.group, {})
        for version in resource.versions.values():
            if version.served:
                versions.setdefault(version.name, []).append(resource)
    return {
        group: {name: _sorted(versions[name]) for name in sorted(versions, key=version_rank)}
        for group, versions in groups.items()
        if versions
    }


def _sorted(resources: Iterable[Resource]) -> list[Resource]:
    return sorted(resources, key=lambda resource: resource.names.plural)


def version_rank(name: str) -> tuple[int, int, int, int, str]:
    """The rank of a version: v2, v1, v1beta2, v1beta1, v1alpha1, then other names."""
    match = _VERSION.fullmatch(name)
    if match is None:
        return (1, 0, 0, 0, name)
    major, stage, minor = match.groups()
    return (0, -_STAGES[stage], -int(major), -int(minor or 0), "")
