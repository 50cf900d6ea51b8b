"""The kinds that are known while checking: of definitions and CRDs, of Crossplane and of Kubernetes.

Those of dependencies are read when the first kind is asked for that is none of these: packages of providers
are large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from crossply.control.definitions.core_crds import core_crds
from crossply.manifests.manifest import Manifest
from crossply.schema.builtin_schemas import builtin_schema
from crossply.validation.resource_validation import Outcome, Schemas
from crossply.values import Object
from crossply.values.api_version import api_group, split_api_version

GroupKind = tuple[str, str]


@cache
def _core() -> dict[GroupKind, Object]:
    return _by_kind(core_crds())


def _by_kind(crds: Iterable[Object]) -> dict[GroupKind, Object]:
    """CRDs by what they define; of two for a kind the first counts."""
    kinds: dict[GroupKind, Object] = {}
    for crd in crds:
        spec = crd.get("spec") or {}
        kinds.setdefault((spec.get("group") or "", (spec.get("names") or {}).get("kind") or ""), crd)
    return kinds


class KnownKinds:
    """Kinds by group and kind; `dependencies` gives the CRDs of dependencies."""

    def __init__(self, crds: Iterable[Object], dependencies: Callable[[], list[Object]]) -> None:
        self._crds = _by_kind(crds)
        self._dependencies = dependencies
        self._added: dict[GroupKind, Object] | None = None
        self._schemas: dict[GroupKind, Schemas] = {}

    def crd(self, api_version: str, kind: str) -> Object | None:
        """The CRD of a kind, if one is known."""
        key = (api_group(api_version), kind)
        return self._crds.get(key) or _core().get(key) or self._dependency(key, api_version)

    def _dependency(self, key: GroupKind, api_version: str) -> Object | None:
        if builtin_schema(api_version, key[1]) is not None:
            return None
        if self._added is None:
            self._added = _by_kind(self._dependencies())
        return self._added.get(key)

    def schema(self, api_version: str, kind: str) -> Object | None:
        """The OpenAPI schema of a version of a kind; that of a built-in kind says less than a CRD's."""
        crd = self.crd(api_version, kind)
        if crd is None:
            return builtin_schema(api_version, kind)
        name = split_api_version(api_version)[1]
        versions = (crd.get("spec") or {}).get("versions") or ()
        schemas = [version.get("schema") for version in versions if version.get("name") == name]
        return (schemas[0] or {}).get("openAPIV3Schema") if schemas else None

    def versions(self, api_version: str, kind: str) -> list[str]:
        """The versions in which a kind is served; none for a kind that no CRD defines."""
        crd = self.crd(api_version, kind) or {}
        versions = (crd.get("spec") or {}).get("versions") or ()
        return [str(version.get("name")) for version in versions if version.get("served")]

    def validate(self, manifest: Manifest) -> Outcome:
        """What an API server would say of an object."""
        key = manifest.group_kind
        if key not in self._schemas:
            crd = self.crd(manifest.api_version, manifest.kind)
            self._schemas[key] = Schemas([] if crd is None else [crd])
        return self._schemas[key].validate(manifest)
