"""The base strategy of built-in kinds."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.builtin.go_round_trip import zero
from crossply.apiserver.registry.name_validation import subdomain_problems
from crossply.apiserver.served_resources import Resource
from crossply.schema.field_errors import FieldError
from crossply.values import Object
from crossply.values.api_version import split_api_version


class Strategy:
    """The strategy of a built-in kind without its own. Others override what differs.

    Objects are normalized (`go_structs.normalised`), with their metadata set (name, namespace, uid).
    `prepare_*` may change the new object, never the old one.
    """

    counts_generation = False
    """Whether metadata.generation starts at one and grows with the spec."""
    allows_create_on_update = False
    """Whether a PUT to a name that does not exist creates the object."""
    allows_unconditional_update = True
    """Whether an update without a resourceVersion is accepted."""
    generation_fields: tuple[str, ...] = ("spec",)

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self.has_status = "status" in resource.versions[resource.storage_version].subresources

    def name_problems(self, name: str) -> tuple[str, ...]:
        return subdomain_problems(name)

    def of_unknown_depth(self, obj: Object) -> Object:
        return obj

    def prepare_create(self, obj: Object) -> None:
        """Set what the server decides; the status of a new object is empty."""
        if not self.counts_generation:
            obj["metadata"].pop("generation", None)
        if self.has_status:
            self.reset_status(obj)

    def prepare_update(self, new: Object, old: Object) -> None:
        """Restore what an update must not change."""
        if self.has_status:
            keep(new, old, "status")

    def prepare_status_update(self, new: Object, old: Object) -> None:
        """Restore everything but the status; metadata may change too."""
        for key in {*new, *old} - {"apiVersion", "kind", "metadata", "status"}:
            keep(new, old, key)

    def validate_create(self, obj: Object) -> list[FieldError]:
        return self.validate(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        return self.validate(new)

    def validate(self, obj: Object) -> list[FieldError]:
        """The errors of an object, new or changed."""
        return []

    def changes_generation(self, new: Object, old: Object) -> bool:
        return self.counts_generation and any(new.get(key) != old.get(key) for key in self.generation_fields)

    def reset_status(self, obj: Object) -> None:
        """Reset the status to what Go writes for an unset one."""
        version = split_api_version(obj.get("apiVersion", ""))[1] or self.resource.storage_version
        empty: Any = zero(self.resource, version, "status")
        obj.pop("status", None)
        if empty is not None:
            obj["status"] = empty


def keep(new: Object, old: Object, key: str) -> None:
    """Restore a member of the old object."""
    if key in old:
        new[key] = old[key]
    else:
        new.pop(key, None)
