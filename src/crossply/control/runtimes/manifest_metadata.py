"""What the objects of a runtime have in common: names, labels, owners, and the user's templates for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from crossply.compose.object_metadata import labels_of, name_of, owner_reference
from crossply.control.runtimes.package_runtime_choice import FUNCTION, PROVIDER
from crossply.values import Object

MANAGER = "pkg.crossplane.io/runtime"
PACKAGE, REVISION = "pkg.crossplane.io/package", "pkg.crossplane.io/revision"
PORT = 9443


class Subject(NamedTuple):
    """The revision that objects are made for, and what is known about it."""

    revision: Object
    namespace: str
    config: Object
    """The spec of the DeploymentRuntimeConfig."""
    service_of_its_own: bool = False
    """Whether each revision has a Service, because several may be active at once."""
    image: str = ""
    config_secrets: tuple[str, ...] = ()
    """Pull secrets of ImageConfigs."""
    account_secrets: tuple[str, ...] = ()
    """Pull secrets of the control plane's own service account."""

    @property
    def name(self) -> str:
        """The name of the revision, and of what runs it."""
        return name_of(self.revision)

    @property
    def package(self) -> str:
        """The name of the package."""
        return labels_of(self.revision).get(PACKAGE, "")

    @property
    def kind(self) -> str:
        """Function or Provider."""
        return FUNCTION if self.revision["kind"] == "FunctionRevision" else PROVIDER

    @property
    def selector(self) -> dict[str, str]:
        """The labels of its Pods."""
        return {REVISION: self.name, f"pkg.crossplane.io/{self.kind.lower()}": self.package}

    @property
    def pull_secrets(self) -> tuple[str, ...]:
        """Those that the package names."""
        named = self.revision["spec"].get("packagePullSecrets") or ()
        return tuple(secret["name"] for secret in named if secret.get("name"))

    def template(self, name: str) -> Object:
        """A template of the DeploymentRuntimeConfig."""
        template: Object = without_nulls(self.config.get(name) or {})
        return template


def metadata_for(subject: Subject, template: Object, name: str) -> Object:
    """The metadata of an object: the user's labels and annotations, our namespace and owner."""
    written = template.get("metadata") or {}
    metadata: Object = {key: written[key] for key in ("labels", "annotations") if written.get(key)}
    return {
        **metadata,
        "name": written.get("name") or name,
        "namespace": subject.namespace,
        "ownerReferences": [owner_of(subject.revision)],
    }


def owner_of(revision: Object) -> Object:
    """The revision as the controller of what runs it."""
    return owner_reference(revision)


def references(names: Iterable[str]) -> list[Object]:
    """Names as references, each once."""
    return [{"name": name} for name in dict.fromkeys(names)]


def without_nulls(value: Any) -> Any:
    """The same without fields that are null: they mean nothing."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value
