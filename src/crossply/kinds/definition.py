"""A definition: which kind of composite resource exists, and how its instances find their Composition.

`Definition` is the one model behind a CompositeResourceDefinition of either version and the first design's
ApplicationDefinition and InfrastructureDefinition. The engine and the controllers read this; the CRDs are
derived by `schema.definition_crds` from the object itself.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.kinds.application_and_infrastructure_definitions import (
    FIRST_DESIGN,
    SpecTemplate,
    parse_spec_template,
)
from crossply.kinds.composition import TypeRef
from crossply.kinds.fields import Fields, KindError
from crossply.values import Object

LEGACY_CLUSTER = "LegacyCluster"
SHOW_CAUSE = "crossply.dev/show-cause"


class DefinitionError(KindError):
    """A definition has a field that cannot be understood."""

    code = "CP-414"


class Names(NamedTuple):
    """What the API calls the kind."""

    plural: str
    kind: str
    singular: str
    list_kind: str


class Version(NamedTuple):
    """One API version of the kind."""

    name: str
    served: bool
    referenceable: bool


class ServiceAccount(NamedTuple):
    """On whose behalf a kind is composed."""

    namespace: str
    name: str

    @property
    def user(self) -> str:
        """What RBAC calls it."""
        return f"system:serviceaccount:{self.namespace}:{self.name}"


class Definition(NamedTuple):
    """A kind of composite resource."""

    name: str
    uid: str
    definition_kind: str
    labels: dict[str, str]
    group: str
    names: Names
    claim_names: Names | None
    scope: str
    """LegacyCluster, Namespaced or Cluster."""
    machinery: str
    """The field of the spec that holds Crossplane's own fields; empty when they lie in the spec itself."""
    versions: tuple[Version, ...]
    default_composition: str | None
    enforced_composition: str | None
    default_revision_selector: dict[str, str] | None
    default_update_policy: str
    default_delete_policy: str
    connection_secret_keys: tuple[str, ...]
    service_account: ServiceAccount | None = None
    """Without one, the controllers compose as themselves."""
    shows_cause: bool = False
    """Whether the Ready conditions of XRs and claims end with the deepest cause."""

    @property
    def referenceable_version(self) -> str:
        """The version Compositions refer to and controllers write; the last one that says so."""
        return next((version.name for version in reversed(self.versions) if version.referenceable), "")

    @property
    def composite(self) -> TypeRef:
        """The composite resource's type at the referenceable version."""
        return TypeRef(f"{self.group}/{self.referenceable_version}", self.names.kind)

    @property
    def claim(self) -> TypeRef | None:
        """The claim's type at the referenceable version, if a claim is offered."""
        if self.claim_names is None:
            return None
        return TypeRef(f"{self.group}/{self.referenceable_version}", self.claim_names.kind)


def default_scope(obj: Object) -> str:
    """The scope of a definition that names none: version 1 had only legacy ones."""
    return "Namespaced" if obj.get("apiVersion") == "apiextensions.crossplane.io/v2" else LEGACY_CLUSTER


def parse_definition(obj: Object) -> Definition:
    """Read a definition of any kind."""
    root = Fields(obj, error=DefinitionError)
    if root.text("kind") in FIRST_DESIGN:
        return _from_first_design(root)
    spec = root.object("spec")
    scope = spec.text("scope") or default_scope(obj)
    metadata = root.object("metadata")
    return Definition(
        name=metadata.text("name"),
        uid=metadata.text("uid"),
        definition_kind=root.text("kind"),
        labels=metadata.string_map("labels"),
        group=spec.text("group"),
        names=_names(spec.object("names")),
        claim_names=_names(spec.object("claimNames")) if spec.has("claimNames") else None,
        scope=scope,
        machinery="" if scope == LEGACY_CLUSTER else "crossplane",
        versions=tuple(_version(version) for version in spec.objects("versions")),
        default_composition=spec.object("defaultCompositionRef").optional_text("name"),
        enforced_composition=spec.object("enforcedCompositionRef").optional_text("name"),
        default_revision_selector=_revision_selector(spec),
        default_update_policy=spec.text("defaultCompositionUpdatePolicy") or "Automatic",
        default_delete_policy=spec.text("defaultCompositeDeletePolicy") or "Background",
        connection_secret_keys=spec.texts("connectionSecretKeys"),
        service_account=_service_account(spec),
        shows_cause=_shows_cause(metadata),
    )


def _shows_cause(metadata: Fields) -> bool:
    return metadata.string_map("annotations").get(SHOW_CAUSE) == "true"


def _names(names: Fields) -> Names:
    return Names(names.text("plural"), names.text("kind"), names.text("singular"), names.text("listKind"))


def _version(version: Fields) -> Version:
    return Version(
        version.text("name"), version.flag("served") or False, version.flag("referenceable") or False
    )


def _revision_selector(spec: Fields) -> dict[str, str] | None:
    key = "defaultCompositionRevisionSelector"
    return spec.object(key).string_map("matchLabels") if spec.has(key) else None


def _service_account(spec: Fields) -> ServiceAccount | None:
    if not spec.has("serviceAccountRef"):
        return None
    ref = spec.object("serviceAccountRef")
    if not ref.text("namespace") or not ref.text("name"):
        raise ref.wrong("must have a namespace and a name")
    return ServiceAccount(ref.text("namespace"), ref.text("name"))


def _from_first_design(root: Fields) -> Definition:
    metadata, spec = root.object("metadata"), root.object("spec")
    template: SpecTemplate = parse_spec_template(root)
    return Definition(
        name=metadata.text("name"),
        uid=metadata.text("uid"),
        definition_kind=root.text("kind"),
        labels=metadata.string_map("labels"),
        group=template.group,
        names=_names(template.names),
        claim_names=None,
        scope=template.scope,
        machinery=template.machinery,
        versions=(Version(template.version, True, True),),
        default_composition=spec.object("defaultComposition").optional_text("name"),
        enforced_composition=spec.object("forceComposition").optional_text("name"),
        default_revision_selector=None,
        default_update_policy="Automatic",
        default_delete_policy="Background",
        connection_secret_keys=spec.texts("connectionDetails"),
        service_account=_service_account(spec),
        shows_cause=_shows_cause(metadata),
    )


def published(definition: Definition) -> Definition:
    """Infrastructure that is published: its requirements are its claims."""
    kind = f"{definition.names.kind}Requirement"
    names = Names(f"{kind.lower()}s", kind, kind.lower(), f"{kind}List")
    return definition._replace(claim_names=names)
