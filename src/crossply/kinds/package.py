"""What Functions and Configurations have in common: they are packages, installed from a registry."""

from __future__ import annotations

from typing import NamedTuple

from crossply.kinds.fields import Fields, KindError
from crossply.values import Object


class PackageError(KindError):
    """A package object has a field that cannot be understood."""

    code = "CP-417"


class Package(NamedTuple):
    """A package as its user asks for it."""

    name: str
    uid: str
    labels: dict[str, str]
    annotations: dict[str, str]
    package: str
    """The image to install."""
    pull_policy: str
    pull_secrets: tuple[str, ...]
    activation_policy: str
    """Automatic or Manual."""
    history_limit: int
    active_limit: int
    """How many revisions may be active at once; more than one only for functions."""
    skip_dependencies: bool
    ignore_constraints: bool


def parse_package(root: Fields) -> Package:
    """Read a package object of any kind."""
    metadata, spec = root.object("metadata"), root.object("spec")
    history_limit = spec.integer("revisionHistoryLimit")
    return Package(
        name=metadata.text("name"),
        uid=metadata.text("uid"),
        labels=metadata.string_map("labels"),
        annotations=metadata.string_map("annotations"),
        package=spec.text("package"),
        pull_policy=spec.text("packagePullPolicy") or "IfNotPresent",
        pull_secrets=tuple(secret.text("name") for secret in spec.objects("packagePullSecrets")),
        activation_policy=spec.text("revisionActivationPolicy") or "Automatic",
        history_limit=1 if history_limit is None else history_limit,
        active_limit=spec.integer("activeRevisionLimit") or 1,
        skip_dependencies=spec.flag("skipDependencyResolution") or False,
        ignore_constraints=spec.flag("ignoreCrossplaneConstraints") or False,
    )


def reader(obj: Object) -> Fields:
    """Start reading a package object."""
    return Fields(obj, error=PackageError)
