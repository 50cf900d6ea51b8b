"""A kind of managed resource as its class declares it, for the reconciler and for the CRD."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from crossply.kube.kind import Kind
from crossply.provider.dataclass_fields import UndeclaredName
from crossply.provider.field_model import Reference, Struct
from crossply.provider.provider_declaration_errors import InvalidDeclaration

MANAGED = "__managed_kind__"
"""The attribute of a class that holds its ManagedKind."""
CONFIG = "__provider_config_kinds__"
"""The attribute of a class that holds its ProviderConfigKinds."""


@dataclass(frozen=True)
class ProviderConfigKinds:
    """The four kinds of a provider's configuration."""

    cls: type
    spec: Struct
    namespaced: Kind
    cluster: Kind
    namespaced_usage: Kind
    cluster_usage: Kind
    description: str = ""

    @property
    def configs(self) -> tuple[Kind, ...]:
        """The kinds of the configuration itself, each once."""
        return tuple(dict.fromkeys((self.namespaced, self.cluster)))

    @property
    def usages(self) -> tuple[Kind, ...]:
        """The kinds of its usages, each once."""
        return tuple(dict.fromkeys((self.namespaced_usage, self.cluster_usage)))

    @property
    def group(self) -> str:
        """The API group of the kinds."""
        return self.namespaced.group

    def kind_named(self, name: str) -> Kind | None:
        """The kind of a `providerConfigRef.kind`."""
        return next((kind for kind in (self.namespaced, self.cluster) if kind.kind == name), None)


@dataclass(frozen=True)
class Settings:
    """How a kind is reconciled."""

    poll_interval: float = 60.0
    """Seconds between observations of a resource that is up to date."""
    timeout: float = 60.0
    """Seconds for the external calls of one reconcile."""
    concurrency: int = 10
    """Resources of the kind that are reconciled at the same time."""
    deterministic_external_name: bool = True
    """The external name is known before creation, so that an interrupted creation is found again."""
    creation_grace_period: float = 30.0
    """Seconds until the external system shows what was created; until then, it is not created again."""


@dataclass(frozen=True)
class ManagedKind:
    """A kind of managed resource."""

    kind: Kind
    cls: type
    parameters: Struct
    observed: Struct | None
    config: ProviderConfigKinds | None
    spec: Struct | None = None
    """The fields of spec that stand beside `forProvider`."""
    settings: Settings = Settings()
    description: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    def has(self, method: str) -> bool:
        """The class has this method: connect, disconnect or update, which are optional."""
        return callable(getattr(self.cls, method, None))


def managed_kind(cls: type) -> ManagedKind:
    """The kind of a class that is decorated with `@managed`."""
    kind: Any = cls.__dict__.get(MANAGED)
    if not isinstance(kind, ManagedKind):
        raise InvalidDeclaration(f"{cls.__qualname__} is not decorated with @managed")
    return kind


def referenced_kind(reference: Reference) -> ManagedKind:
    """The kind that a reference refers to, which may have been declared after it."""
    target = reference.target
    if not issubclass(target, UndeclaredName):
        return managed_kind(target)
    declared = getattr(sys.modules.get(target.module), target.__name__, None)
    if not isinstance(declared, type):
        raise InvalidDeclaration(
            f"Ref[{target.__name__!r}]: {target.module} has no class of this name",
            hint="declare the kind in the same module, or import it there",
        )
    return managed_kind(declared)
