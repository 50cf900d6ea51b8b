"""What is special about CustomResourceDefinitions: they define other kinds, and are checked accordingly."""

from __future__ import annotations

from crossply.apiserver.apiextensions.crd_defaults import (
    default_definition,
    fresh_status,
    with_stored_version,
)
from crossply.apiserver.apiextensions.crd_validation import validate_definition
from crossply.apiserver.builtin.strategies.simple_kinds import DefinitionStrategy as PlainStrategy
from crossply.schema.field_errors import FieldError
from crossply.values import Object

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


class DefinitionStrategy(PlainStrategy):
    """CustomResourceDefinitions with the rules for what they define."""

    def prepare_create(self, obj: Object) -> None:
        """Fill in the names that follow from others."""
        obj.update(default_definition(obj))
        super().prepare_create(obj)
        obj["status"] = fresh_status(obj)

    def prepare_update(self, new: Object, old: Object) -> None:
        """The same, and the status stays."""
        new.update(default_definition(new))
        super().prepare_update(new, old)
        new.update(with_stored_version(new))

    def validate_create(self, obj: Object) -> list[FieldError]:
        """Names, versions, schemas and rules."""
        return validate_definition(obj, None)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The same, and what must not change once it is served."""
        return validate_definition(new, old)
