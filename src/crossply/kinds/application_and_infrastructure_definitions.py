"""The definitions of the first design: ApplicationDefinition, InfrastructureDefinition, and publications.

Their schema is a `crdSpecTemplate`, a single-version CRD spec whose validation describes the fields of the
spec directly. The composite resource keeps its machinery in `spec.application` or `spec.infrastructure`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.kinds.fields import Fields, KindError
from crossply.values import Object

APPLICATION = "ApplicationDefinition"
INFRASTRUCTURE = "InfrastructureDefinition"
PUBLICATION = "InfrastructurePublication"
FIRST_DESIGN = (APPLICATION, INFRASTRUCTURE)


class PublicationError(KindError):
    """An InfrastructurePublication has a field that cannot be understood, or publishes something else."""

    code = "CP-415"


class SpecTemplate(NamedTuple):
    """The `crdSpecTemplate` of a definition, and what follows from the definition's kind."""

    group: str
    version: str
    names: Fields
    schema: Any
    """The validation's openAPIV3Schema, as it was written."""
    columns: list[Object]
    scope: str
    """Applications are namespaced, infrastructure is not."""
    machinery: str


class Publication(NamedTuple):
    """An infrastructure kind that application teams may require in their namespaces."""

    name: str
    uid: str
    definition: str


def parse_spec_template(root: Fields) -> SpecTemplate:
    """Read the `crdSpecTemplate` of an ApplicationDefinition or InfrastructureDefinition."""
    template = root.object("spec").object("crdSpecTemplate")
    is_application = root.text("kind") == APPLICATION
    return SpecTemplate(
        group=template.text("group"),
        version=template.text("version"),
        names=template.object("names"),
        schema=template.object("validation").raw("openAPIV3Schema"),
        columns=[column.as_dict() for column in template.objects("additionalPrinterColumns")],
        scope="Namespaced" if is_application else "Cluster",
        machinery="application" if is_application else "infrastructure",
    )


def parse_publication(obj: Object) -> Publication:
    """Read an InfrastructurePublication; without a reference it publishes the definition of its own name."""
    root = Fields(obj, error=PublicationError)
    metadata, spec = root.object("metadata"), root.object("spec")
    key = "infrastructureDefinitionReference"
    # The short spelling is what every other reference of the API has.
    ref = spec.object(key if spec.has(key) else "infrastructureDefinitionRef")
    name = metadata.text("name")
    return Publication(name, metadata.text("uid"), ref.text("name") or name)
