"""Validates a CustomResourceDefinition on create and update, with kube-apiserver's sentences and order.

kube-apiserver validates an internal form in which what all versions share (a schema, columns, …) is moved to
the top level; the paths in its errors are of that form, and `lifted` computes it. Its exceptions for objects
of older releases are left out.
"""

from __future__ import annotations

from typing import Any

from crossply.apiserver.apiextensions.api_approval import check_approval
from crossply.apiserver.apiextensions.condition_list import is_true
from crossply.apiserver.apiextensions.conversion_validation import check_conversion
from crossply.apiserver.apiextensions.go_printing import invalid_struct, show_versions
from crossply.apiserver.apiextensions.schema_validation import check_schema
from crossply.apiserver.apiextensions.structural_validation import unsupported_problem
from crossply.apiserver.apiextensions.validation_effort import check_effort
from crossply.apiserver.apiextensions.version_feature_validation import (
    check_columns,
    check_deprecation,
    check_names,
    check_selectable_fields,
    check_subresources,
)
from crossply.apiserver.registry.name_validation import dns_1035_problems, subdomain_problems
from crossply.schema.field_errors import INVALID, OMITTED, REQUIRED, FieldError, unsupported
from crossply.values import Object
from crossply.values.gojson import dumps

_LIFTED = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}
_IMMUTABLE = "field is immutable"


def validate_definition(new: Object, old: Object | None) -> list[FieldError]:
    """The errors of a new definition, or of a change.

    Both are as `default_definition` returns them. The metadata is validated elsewhere.
    """
    if old is not None:
        return _validate_change(new, old)
    errors = _check_name(new)
    errors += _check_spec(new["spec"], allow_bad_bundle=True)
    return errors + _check_rest(new, None)


def _validate_change(new: Object, old: Object) -> list[FieldError]:
    spec, before = new["spec"], old["spec"]
    errors: list[FieldError] = []
    if spec != before:
        established = is_true(old, "Established")
        errors += _check_spec(spec, allow_bad_bundle=not established)
        errors += _check_immutable(spec, before, established)
    return errors + _check_rest(new, old)


def _check_rest(new: Object, old: Object | None) -> list[FieldError]:
    status, spec = new.get("status") or {}, new["spec"]
    errors = check_names(status.get("acceptedNames") or {}, "status.acceptedNames")
    if old is None or spec != old["spec"]:
        errors += _check_stored_versions(status.get("storedVersions") or [], spec.get("versions") or [])
    errors += check_approval(new, old)
    if spec.get("preserveUnknownFields") and not (old or {"spec": {}})["spec"].get("preserveUnknownFields"):
        detail = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema "
            "instead"
        )
        errors.append(FieldError(INVALID, "spec.preserveUnknownFields", True, detail))
    return errors


def _check_name(definition: Object) -> list[FieldError]:
    names, group = definition["spec"].get("names") or {}, definition["spec"].get("group") or ""
    name = (definition.get("metadata") or {}).get("name") or ""
    if not name or name == f"{names.get('plural') or ''}.{group}":
        return []
    return [FieldError(INVALID, "metadata.name", name, 'must be spec.names.plural+"."+spec.group')]


def _check_immutable(spec: Object, before: Object, established: bool) -> list[FieldError]:
    names, names_before = spec.get("names") or {}, before.get("names") or {}
    pairs = [
        ("spec.group", spec.get("group"), before.get("group")),
        ("spec.names.plural", names.get("plural"), names_before.get("plural")),
    ]
    if established:
        pairs = [
            ("spec.scope", spec.get("scope"), before.get("scope")),
            ("spec.names.kind", names.get("kind"), names_before.get("kind")),
            *pairs,
        ]
    return [FieldError(INVALID, path, value or "", _IMMUTABLE) for path, value, was in pairs if value != was]


def lifted(spec: Object) -> Object:
    """The spec with what all versions share moved to the top level."""
    versions: list[Object] = spec.get("versions") or []
    if not versions:
        return spec
    common = {
        key: versions[0].get(key)
        for key in _LIFTED
        if all((version.get(key) or None) == (versions[0].get(key) or None) for version in versions)
    }
    rest = [{key: value for key, value in version.items() if key not in common} for version in versions]
    above = {_LIFTED[key]: value for key, value in common.items() if value is not None}
    return {**spec, "versions": rest, **above}


def _check_spec(spec: Object, *, allow_bad_bundle: bool) -> list[FieldError]:
    too_much = check_effort([_schema_of(version.get("schema")) for version in spec.get("versions") or ()])
    if too_much:
        return too_much
    spec = lifted(spec)
    versions = spec.get("versions") or []
    errors = [*_check_group(spec.get("group") or ""), *_check_scope(spec.get("scope") or "")]
    errors += _check_presence(spec, versions)
    for index, version in enumerate(versions):
        errors += _check_version(version, spec, f"spec.versions[{index}]")
    errors += _check_versions(spec.get("versions"))
    errors += _check_names(spec.get("names") or {})
    errors += _check_common(spec)
    conversion = spec.get("conversion") or {}
    if spec.get("preserveUnknownFields") and conversion.get("strategy") != "None":
        detail = "must be None if spec.preserveUnknownFields is true"
        errors.append(
            FieldError(INVALID, "spec.conversion.strategy", conversion.get("strategy") or "", detail)
        )
    return errors + check_conversion(conversion, "spec.conversion", allow_bad_bundle=allow_bad_bundle)


def _check_group(group: str) -> list[FieldError]:
    if not group:
        return [FieldError(REQUIRED, "spec.group", "", "")]
    problems = subdomain_problems(group)
    if not problems and "." not in group:
        problems = ("should be a domain with at least one dot",)
    return [FieldError(INVALID, "spec.group", group, ",".join(problems))] if problems else []


def _check_scope(scope: str) -> list[FieldError]:
    if not scope:
        return [FieldError(REQUIRED, "spec.scope", "", "")]
    if scope in ("Cluster", "Namespaced"):
        return []
    return [unsupported("spec.scope", scope, ["Cluster", "Namespaced"])]


def _check_presence(spec: Object, versions: list[Object]) -> list[FieldError]:
    """Each version needs a schema, and defaults need pruning."""
    errors = []
    if _schema_of(spec.get("validation")) is None:
        errors = [
            FieldError(REQUIRED, f"spec.versions[{index}].schema.openAPIV3Schema", "", "")
            for index, version in enumerate(versions)
            if _schema_of(version.get("schema")) is None
        ]
    if spec.get("preserveUnknownFields"):
        schemas = [
            _schema_of(part) for part in (spec.get("validation"), *(v.get("schema") for v in versions))
        ]
        if any(_has_default(schema) for schema in schemas):
            detail = "must be false in order to use defaults in the schema"
            errors.append(FieldError(INVALID, "spec.preserveUnknownFields", True, detail))
    return errors


def _has_default(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_default, value))
    if not isinstance(value, dict):
        return False
    return "default" in value or any(map(_has_default, value.values()))


def _schema_of(validation: Object | None) -> Object | None:
    return validation.get("openAPIV3Schema") if validation else None


def _check_version(version: Object, spec: Object, path: str) -> list[FieldError]:
    name = version.get("name") or ""
    problems = dns_1035_problems(name)
    errors = [FieldError(INVALID, f"{path}.name", name, ",".join(problems))] if problems else []
    errors += check_deprecation(version, f"{path}.deprecationWarning")
    schema = _schema_of(version.get("schema"))
    if schema is not None:
        subresources = version.get("subresources") or spec.get("subresources") or {}
        errors += check_schema(schema, "status" in subresources, f"{path}.schema.openAPIV3Schema")
    errors += check_subresources(version.get("subresources"), f"{path}.subresources")
    errors += check_columns(version.get("additionalPrinterColumns"), f"{path}.additionalPrinterColumns")
    fields = version.get("selectableFields")
    if fields and schema is None:
        detail = "may only be set when `version.schema.openAPIV3Schema` is not included"
        errors.append(FieldError(INVALID, f"{path}.selectableFields", "", detail))
    elif fields and schema is not None:
        at = f"{path}.schema.openAPIV3Schema"
        errors += _check_selectable(fields, schema, f"{path}.selectableFields", at)
    return errors


def _check_selectable(fields: list[Object], schema: Object, path: str, schema_path: str) -> list[FieldError]:
    unreadable = unsupported_problem(schema)
    if unreadable:  # kube-apiserver goes on and panics
        return [FieldError(INVALID, schema_path, "", unreadable)]
    return check_selectable_fields(fields, schema, path)


def _check_versions(value: list[Object] | None) -> list[FieldError]:
    versions = value or []
    names = [version.get("name") or "" for version in versions]
    details = []
    if len(set(names)) != len(names):
        details.append("must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        details.append("must have exactly one version marked as storage version")
    shown = show_versions(versions) if details and value is not None else "null"
    errors = [invalid_struct("spec.versions", shown, detail) for detail in details]
    problems = dns_1035_problems(names[0]) if names and names[0] else ()
    if problems:
        errors.append(FieldError(INVALID, "spec.version", names[0], ",".join(problems)))
    return errors


def _check_names(names: Object) -> list[FieldError]:
    errors = [
        FieldError(REQUIRED, f"spec.names.{key}", "", "")
        for key in ("plural", "singular", "kind", "listKind")
        if not names.get(key)
    ]
    return errors + check_names(names, "spec.names")


def _check_common(spec: Object) -> list[FieldError]:
    """Validate what all versions share."""
    schema = _schema_of(spec.get("validation"))
    errors: list[FieldError] = []
    if schema is not None:
        used = [spec.get("subresources"), *(version.get("subresources") for version in spec["versions"])]
        has_status = any("status" in (subresources or {}) for subresources in used)
        errors += check_schema(schema, has_status, "spec.validation.openAPIV3Schema")
    errors += check_subresources(spec.get("subresources"), "spec.subresources")
    errors += check_columns(spec.get("additionalPrinterColumns"), "spec.additionalPrinterColumns")
    fields = spec.get("selectableFields")
    if fields and spec.get("validation") is None:
        detail = "may only be set when validations.schema is included"
        errors.append(FieldError(INVALID, "spec.selectableFields", "", detail))
    elif fields:
        errors += _check_selectable(
            fields, schema or {}, "spec.selectableFields", "spec.schema.openAPIV3Schema"
        )
    return errors


def _check_stored_versions(stored: list[str], versions: list[Object]) -> list[FieldError]:
    path = "status.storedVersions"
    if not stored:
        return [FieldError(INVALID, path, OMITTED, "null: must have at least one stored version")]
    names = [version.get("name") for version in versions]
    errors = [
        FieldError(
            INVALID, path, OMITTED, f"{dumps(stored)}: must have the storage version {version['name']}"
        )
        for version in versions
        if version.get("storage") and version.get("name") not in stored
    ]
    for index, name in enumerate(stored):
        if name not in names:
            detail = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and "
                f"removes {name} from status.storedVersions"
            )
            errors.append(FieldError(INVALID, f"{path}[{index}]", name, detail))
    return errors


__all__ = ["lifted", "validate_definition"]
