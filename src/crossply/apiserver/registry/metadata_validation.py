"""Validates the metadata of any object, on create and update."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.apiserver.registry.name_validation import (
    label_value_problems,
    qualified_name_problems,
    subdomain_problems,
)
from crossply.schema.field_errors import (
    FORBIDDEN,
    INVALID,
    REQUIRED,
    TOO_LONG,
    FieldError,
)
from crossply.values import Object
from crossply.values.api_version import split_api_version

NameProblems = Callable[[str], tuple[str, ...]]

MAX_ANNOTATIONS = 256 * 1024
_IMMUTABLE = "field is immutable"
_FIXED = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_STANDARD_FINALIZERS = ("orphan", "foregroundDeletion")
_BANNED_OWNERS = {("v1", "Event")}


def check_metadata(
    metadata: Object, *, namespaced: bool, name_problems: NameProblems = subdomain_problems
) -> list[FieldError]:
    """The errors of the metadata of a new or changed object."""
    errors = _check_name(metadata, name_problems)
    errors += _check_namespace(metadata, namespaced)
    errors += check_labels(metadata.get("labels"), "metadata.labels")
    errors += _check_annotations(metadata.get("annotations"))
    errors += _check_owners(metadata.get("ownerReferences"))
    errors += _check_finalizers(metadata.get("finalizers"))
    return errors


def _check_name(metadata: Object, name_problems: NameProblems) -> list[FieldError]:
    errors = []
    prefix = metadata.get("generateName")
    if prefix:
        checked = prefix[:-1] + "a" if prefix.endswith("-") else prefix
        errors += [_invalid("metadata.generateName", prefix, p) for p in name_problems(checked)]
    name = metadata.get("name")
    if not name:
        errors.append(FieldError(REQUIRED, "metadata.name", "", "name or generateName is required"))
    else:
        errors += [_invalid("metadata.name", name, problem) for problem in name_problems(name)]
    return errors


def _check_namespace(metadata: Object, namespaced: bool) -> list[FieldError]:
    namespace = metadata.get("namespace")
    if namespaced:
        if not namespace:
            return [FieldError(REQUIRED, "metadata.namespace", "", "")]
        return []
    if namespace:
        return [FieldError(FORBIDDEN, "metadata.namespace", "", "not allowed on this type")]
    return []


def check_labels(labels: Any, path: str) -> list[FieldError]:
    errors = []
    for key, value in (labels or {}).items():
        errors += [_invalid(path, key, problem) for problem in qualified_name_problems(key)]
        errors += [_invalid(path, value, problem) for problem in label_value_problems(value)]
    return errors


def _check_annotations(annotations: Any) -> list[FieldError]:
    errors = []
    size = 0
    for key, value in (annotations or {}).items():
        errors += [
            _invalid("metadata.annotations", key, problem) for problem in qualified_name_problems(key.lower())
        ]
        size += len(key) + len(value)
    if size > MAX_ANNOTATIONS:
        detail = f"may not be more than {MAX_ANNOTATIONS} bytes"
        errors.append(FieldError(TOO_LONG, "metadata.annotations", "", detail))
    return errors


def _check_owners(references: Any) -> list[FieldError]:
    errors = []
    controllers: list[Object] = []
    path = "metadata.ownerReferences"
    for reference in references or ():
        for key in ("apiVersion", "kind", "name", "uid"):
            if key == "apiVersion" and not split_api_version(str(reference.get(key, "")))[1]:
                errors.append(
                    _invalid(f"{path}.apiVersion", reference.get(key, ""), "version must not be empty")
                )
            elif key != "apiVersion" and not reference.get(key):
                errors.append(_invalid(f"{path}.{key}", "", "must not be empty"))
        if (reference.get("apiVersion"), reference.get("kind")) in _BANNED_OWNERS:
            errors.append(_invalid(path, reference, f"{reference['kind']} is disallowed from being an owner"))
        if reference.get("controller"):
            controllers.append(reference)
    if len(controllers) > 1:
        first, second = (f"{c.get('kind', '')}/{c.get('name', '')}" for c in controllers[:2])
        detail = (
            f'Only one reference can have Controller set to true. Found "true" in references for {first} '
            f"and {second}"
        )
        errors.append(_invalid(path, references, detail))
    return errors


def _check_finalizers(finalizers: Any) -> list[FieldError]:
    errors = []
    for finalizer in finalizers or ():
        errors += [
            _invalid("metadata.finalizers", finalizer, problem)
            for problem in qualified_name_problems(finalizer)
        ]
    both = {"orphan", "foregroundDeletion"}
    if both <= set(finalizers or ()):
        detail = "finalizer orphan and foregroundDeletion cannot be both set"
        errors.append(_invalid("metadata.finalizers", finalizers, detail))
    return errors


def check_built_in_finalizers(metadata: Object) -> list[FieldError]:
    """Finalizers of built-in kinds must be standard ones, or qualified."""
    return [
        _invalid(
            f"metadata.finalizers[{index}]",
            name,
            "name is neither a standard finalizer name nor is it fully qualified",
        )
        for index, name in enumerate(metadata.get("finalizers") or ())
        if "/" not in name and name not in (*_STANDARD_FINALIZERS, "kubernetes")
    ]


def finalizer_warnings(metadata: Object, old: Object) -> list[str]:
    """Warnings about new, unqualified finalizers of custom resources."""
    added = set(metadata.get("finalizers") or ()) - set(old.get("finalizers") or ())
    return [
        f'metadata.finalizers: "{name}": prefer a domain-qualified finalizer name to avoid accidental '
        "conflicts with other finalizer writers"
        for name in sorted(added)
        if "/" not in name and name not in _STANDARD_FINALIZERS
    ]


def check_metadata_update(new: Object, old: Object) -> list[FieldError]:
    """The errors of changed metadata, compared with the old object."""
    errors = _check_new_finalizers(new, old) if old.get("deletionTimestamp") else []
    errors += [
        _invalid(f"metadata.{key}", new.get(key, ""), _IMMUTABLE)
        for key in _FIXED
        if new.get(key) != old.get(key)
    ]
    errors += check_labels(new.get("labels"), "metadata.labels")
    errors += _check_annotations(new.get("annotations"))
    return errors + _check_owners(new.get("ownerReferences"))


def _check_new_finalizers(new: Object, old: Object) -> list[FieldError]:
    added = set(new.get("finalizers") or ()) - set(old.get("finalizers") or ())
    if not added:
        return []
    listed = ", ".join(f'"{name}"' for name in sorted(added))
    detail = (
        "no new finalizers can be added if the object is being deleted, found new finalizers "
        f"[]string{{{listed}}}"
    )
    return [FieldError(FORBIDDEN, "metadata.finalizers", "", detail)]


def _invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(INVALID, path, value, detail)
