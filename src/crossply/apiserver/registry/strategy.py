"""What differs between kinds when objects are created and updated, as a protocol.

Strategies of custom resources are in `custom_resource_strategy`, of CustomResourceDefinitions in
`apiextensions.customresourcedefinition_strategy`, of built-in kinds in `builtin.strategies`.
"""

from __future__ import annotations

from typing import Protocol

from crossply.schema.field_errors import FieldError
from crossply.values import Object


class Strategy(Protocol):
    """What differs between kinds. `prepare_*` change the new object in place, and never the old one."""

    counts_generation: bool
    """Whether metadata.generation starts at one and increases with changes of the spec."""
    allows_create_on_update: bool
    """Whether a PUT to a name that does not exist creates the object."""
    allows_unconditional_update: bool
    """Whether an update without a resourceVersion is accepted."""

    def name_problems(self, name: str) -> tuple[str, ...]:
        """The problems of an object's name."""
        ...

    def of_unknown_depth(self, obj: Object) -> Object:
        """The object without parts that certainly do not nest too deep."""
        ...

    def prepare_create(self, obj: Object) -> None:
        """Set and drop fields of a new object."""
        ...

    def prepare_update(self, new: Object, old: Object) -> None:
        """Restore what an update must not change."""
        ...

    def prepare_status_update(self, new: Object, old: Object) -> None:
        """Restore everything but the status."""
        ...

    def validate_create(self, obj: Object) -> list[FieldError]:
        """The errors of a new object, besides its metadata."""
        ...

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The errors of a changed object, besides its metadata."""
        ...

    def changes_generation(self, new: Object, old: Object) -> bool:
        """Whether the change increases metadata.generation."""
        ...
