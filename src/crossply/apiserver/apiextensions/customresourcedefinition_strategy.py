"""The strategy of CustomResourceDefinitions."""

from __future__ import annotations

from crossply.apiserver.apiextensions.crd_defaults import (
    default_definition,
    fresh_status,
    with_stored_version,
)
from crossply.apiserver.apiextensions.crd_status_conditions import note_structural
from crossply.apiserver.apiextensions.crd_validation import validate_definition
from crossply.apiserver.apiextensions.crd_without_schemas import without_plain_schemas
from crossply.apiserver.builtin.strategies.simple_kinds import DefinitionStrategy as PlainStrategy
from crossply.schema.field_errors import FieldError
from crossply.values import Object

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


class DefinitionStrategy(PlainStrategy):
    """CustomResourceDefinitions with the validation of what they define."""

    def prepare_create(self, obj: Object) -> None:
        obj.update(default_definition(obj))
        super().prepare_create(obj)
        obj["status"] = fresh_status(obj)

    def prepare_update(self, new: Object, old: Object) -> None:
        new.update(default_definition(new))
        super().prepare_update(new, old)
        new.update(with_stored_version(new))

    def of_unknown_depth(self, obj: Object) -> Object:
        """`default_definition` has checked how deep schemas nest."""
        return without_plain_schemas(obj)

    def validate_create(self, obj: Object) -> list[FieldError]:
        errors = validate_definition(obj, None)
        if not errors:
            note_structural(obj)
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        return validate_definition(new, old)
