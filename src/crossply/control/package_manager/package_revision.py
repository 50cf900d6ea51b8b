"""The desired revision of a package for one image."""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.object_metadata import (
    is_controlled_by_another,
    labels_of,
    name_of,
    uid_of,
)
from crossply.control.calls.function_revision_runtime import ACTIVE, INACTIVE, PACKAGE, runtime_annotations
from crossply.control.package_manager.package_fetcher import DIGEST
from crossply.control.package_manager.package_kinds import PackageKind
from crossply.control.package_manager.revision_activation import Decision
from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.owner_references import as_controller, reference_to
from crossply.xpkg.dns_names import friendly_id

_COPIED = (
    "packagePullPolicy",
    "packagePullSecrets",
    "ignoreCrossplaneConstraints",
    "skipDependencyResolution",
    "commonLabels",
    "commonAnnotations",
)
_LONGEST_NAME = 253
_SERVER, _CLIENT = "-tls-server", "-tls-client"


class RevisionNotControlled(CrossplyError):
    """A revision with the required name exists already, and belongs to another owner."""

    code = "CP-851"
    hint = "delete it, or install the package under another name"


class Identity(NamedTuple):
    """Which image a package stands for now."""

    hash: str
    """The hex of its digest, or of what stands for it where nothing is pulled."""
    resolved: str
    """What is pulled, after rewriting."""
    config_refs: list[Object]
    digest: str = ""
    """The digest of the image; empty where nothing is pulled."""


def revision_name(package: Object, identity: Identity) -> str:
    """The name of a package's revision."""
    return friendly_id(name_of(package), identity.hash)


def revision_for(package: Object, kind: PackageKind, identity: Identity, decision: Decision) -> Object:
    """The current revision of a package."""
    spec = package["spec"]
    revision_spec: Object = {key: spec[key] for key in _COPIED if spec.get(key) is not None}
    revision_spec |= {
        "image": spec["package"],
        "revision": decision.number,
        "desiredState": ACTIVE if decision.active else INACTIVE,
    }
    if kind.has_runtime:
        revision_spec["tlsServerSecretName"] = _secret_name(package, _SERVER)
        if spec.get("runtimeConfigRef") is not None:
            revision_spec["runtimeConfigRef"] = spec["runtimeConfigRef"]
    if kind.calls_back:
        revision_spec["tlsClientSecretName"] = _secret_name(package, _CLIENT)
    return {
        "apiVersion": kind.revision.api_version,
        "kind": kind.revision.kind,
        "metadata": _metadata(package, kind, identity),
        "spec": revision_spec,
    }


def _metadata(package: Object, kind: PackageKind, identity: Identity) -> Object:
    annotations = runtime_annotations(package) if kind.has_runtime else {}
    if identity.digest:
        annotations = {**annotations, DIGEST: identity.digest}
    metadata: Object = {
        "name": revision_name(package, identity),
        # So that a user can label a package and have steps select the revision that comes of it.
        "labels": {**labels_of(package), PACKAGE: name_of(package)},
        "ownerReferences": [_owner(package, kind)],
    }
    return {**metadata, "annotations": annotations} if annotations else metadata


def _owner(package: Object, kind: PackageKind) -> Object:
    api_version, name = kind.package.api_version, kind.package.kind
    return as_controller(reference_to(api_version, name, name_of(package), uid_of(package)))


def _secret_name(package: Object, suffix: str) -> str:
    return name_of(package)[: _LONGEST_NAME - len(suffix)] + suffix


def check_controller(live: Object, package: Object) -> None:
    """Refuse to write a revision that another object controls."""
    if is_controlled_by_another(live, uid_of(package)):
        raise RevisionNotControlled(f'existing object is not controlled by UID "{uid_of(package)}"')
