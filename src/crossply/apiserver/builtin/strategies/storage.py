"""Strategies of volumes, claims and storage classes."""

from __future__ import annotations

from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import (
    forbidden,
    immutable,
    label_selector,
    one_of,
    required,
)
from crossply.schema.field_errors import FieldError
from crossply.values import Object

_NOT_A_SOURCE = {
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
}
_CLAIM_CHANGEABLE = ("resources", "volumeName", "volumeAttributesClassName")
_CLAIM_FIXED = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound "
    "claims"
)
_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


class StorageClassStrategy(Strategy):
    def validate(self, obj: Object) -> list[FieldError]:
        return [] if obj.get("provisioner") else [required("provisioner")]

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The parameters of a class are immutable."""
        errors = []
        if (new.get("parameters") or {}) != (old.get("parameters") or {}):
            errors.append(forbidden("parameters", "updates to parameters are forbidden."))
        for key in ("provisioner", "reclaimPolicy", "volumeBindingMode"):
            errors += immutable(new.get(key), old.get(key), key)
        return errors


class ClaimStrategy(Strategy):
    def prepare_create(self, obj: Object) -> None:
        """A new claim is Pending."""
        super().prepare_create(obj)
        obj["status"] = {"phase": "Pending"}

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        modes = spec.get("accessModes") or ()
        errors = [] if modes else [required("spec.accessModes", "at least 1 access mode is required")]
        for mode in modes:
            errors += one_of("spec.accessModes", mode, _MODES)
        if spec.get("volumeMode"):
            errors += one_of("spec.volumeMode", spec["volumeMode"], ["Block", "Filesystem"])
        amounts = (spec.get("resources") or {}).get("requests") or {}
        if "storage" not in amounts:
            errors.append(required("spec.resources[storage]"))
        return errors + label_selector(spec.get("selector"), "spec.selector")

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """A claim may request more storage, and be bound to a volume; the rest is immutable."""
        errors = self.validate(new)
        after, before = (
            {key: value for key, value in obj["spec"].items() if key not in _CLAIM_CHANGEABLE}
            for obj in (new, old)
        )
        bound = old["spec"].get("volumeName")
        if after != before or (bound and new["spec"].get("volumeName") != bound):
            errors.append(forbidden("spec", _CLAIM_FIXED))
        return errors


class VolumeStrategy(Strategy):
    def prepare_create(self, obj: Object) -> None:
        """A new volume is Pending."""
        super().prepare_create(obj)
        obj["status"] = {"phase": "Pending"}

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        modes = spec.get("accessModes") or ()
        errors = [] if modes else [required("spec.accessModes")]
        for mode in modes:
            errors += one_of("spec.accessModes", mode, _MODES)
        capacity = spec.get("capacity")
        if not capacity:
            errors.append(required("spec.capacity"))
        if "storage" not in (capacity or {}) or len(capacity or {}) > 1:
            errors += one_of("spec.capacity", capacity, ["storage"])
        if not set(spec) - _NOT_A_SOURCE:
            errors.append(required("spec", "must specify a volume type"))
        return errors
