"""Validates the smaller parts of a definition: names, columns, subresources, selectable fields, warnings."""

from __future__ import annotations

from crossply.apiserver.apiextensions.field_path_resolution import BadPath, find_field
from crossply.apiserver.registry.name_validation import dns_1035_problems
from crossply.schema.field_errors import DUPLICATE, INVALID, OMITTED, REQUIRED, FieldError, too_many
from crossply.values import Object
from crossply.values.gojson import dumps

MOST_SELECTABLE = 8
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_ROOTS = {
    "specReplicasPath": (".spec.",),
    "statusReplicasPath": (".status.",),
    "labelSelectorPath": (".spec.", ".status."),
}


def check_names(names: Object, path: str) -> list[FieldError]:
    """Validate the names of a kind; missing ones are not checked."""
    errors = []
    for key in ("plural", "singular", "kind", "listKind"):
        name = names.get(key) or ""
        mixed = key in ("kind", "listKind")
        problems = dns_1035_problems(name.lower() if mixed else name) if name else ()
        if problems:
            prefix = "may have mixed case, but should otherwise match: " if mixed else ""
            errors.append(FieldError(INVALID, f"{path}.{key}", name, prefix + ",".join(problems)))
    errors += _check_labels(names.get("shortNames"), f"{path}.shortNames")
    if names.get("kind") and names["kind"] == names.get("listKind"):
        detail = "kind and listKind may not be the same"
        errors.append(FieldError(INVALID, f"{path}.listKind", names["listKind"], detail))
    return errors + _check_labels(names.get("categories"), f"{path}.categories")


def _check_labels(labels: list[str] | None, path: str) -> list[FieldError]:
    return [
        FieldError(INVALID, f"{path}[{index}]", label, ",".join(problems))
        for index, label in enumerate(labels or ())
        if (problems := dns_1035_problems(label))
    ]


def check_deprecation(version: Object, path: str) -> list[FieldError]:
    warning = version.get("deprecationWarning")
    if warning is None:
        return []
    details = []
    if not version.get("deprecated"):
        details.append("can only be set for deprecated versions")
    else:
        if len(warning.encode()) > 256:
            details.append("must be <= 256 characters long")
        if not warning:
            details.append("must not be an empty string")
        odd = next((at for at, char in enumerate(warning) if not char.isprintable()), None)
        if odd is not None:
            at = len(warning[:odd].encode())
            details.append(
                f"must only contain printable UTF-8 characters; non-printable character found at index {at}"
            )
    return [FieldError(INVALID, path, OMITTED, f"{dumps(warning)}: {detail}") for detail in details]


def check_columns(columns: list[Object] | None, path: str) -> list[FieldError]:
    errors = []
    for index, column in enumerate(columns or ()):
        errors += _check_column(column, f"{path}[{index}]")
    return errors


def _check_column(column: Object, path: str) -> list[FieldError]:
    errors = []
    if not column.get("name"):
        errors.append(FieldError(REQUIRED, f"{path}.name", "", ""))
    kind, form = column.get("type") or "", column.get("format") or ""
    if kind not in _COLUMN_TYPES:
        detail = f"must be one of {','.join(_COLUMN_TYPES)}"
        errors.append(FieldError(INVALID if kind else REQUIRED, f"{path}.type", kind, detail))
    if form and form not in _COLUMN_FORMATS:
        detail = f"must be one of {','.join(_COLUMN_FORMATS)}"
        errors.append(FieldError(INVALID, f"{path}.format", form, detail))
    json_path = column.get("jsonPath") or ""
    if not json_path:
        errors.append(FieldError(REQUIRED, f"{path}.JSONPath", "", ""))
    return errors + _check_json_path(json_path, f"{path}.JSONPath")


def _check_json_path(json_path: str, path: str) -> list[FieldError]:
    if json_path and not json_path.startswith("."):
        return [FieldError(INVALID, path, json_path, "must be a simple json path starting with .")]
    return []


def check_subresources(subresources: Object | None, path: str) -> list[FieldError]:
    """Validate the scale subresource."""
    scale = (subresources or {}).get("scale")
    if scale is None:
        return []
    errors = []
    for key, roots in _ROOTS.items():
        errors += _check_scale_path(scale.get(key) or "", key, roots, f"{path}.scale.{key}")
    return errors


def _check_scale_path(value: str, key: str, roots: tuple[str, ...], path: str) -> list[FieldError]:
    optional = key == "labelSelectorPath"
    if not value:
        return [] if optional else [FieldError(REQUIRED, path, "", "")]
    errors = _check_json_path(value, path)
    if not errors and not value.startswith(roots):
        under = "either .spec or .status" if optional else roots[0].rstrip(".")
        errors.append(FieldError(INVALID, path, value, f"should be a json path under {under}"))
    return errors


def check_selectable_fields(fields: list[Object], schema: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    paths: set[tuple[str, ...]] = set()
    for index, field in enumerate(fields):
        errors += _check_selectable_field(
            field.get("jsonPath") or "", schema, f"{path}[{index}].jsonPath", paths
        )
    if len(paths) > MOST_SELECTABLE:
        errors.append(too_many(path, len(paths), MOST_SELECTABLE))
    return errors


def _check_selectable_field(
    json_path: str, schema: Object, path: str, paths: set[tuple[str, ...]]
) -> list[FieldError]:
    if not json_path:
        return [FieldError(REQUIRED, path, "", "")]
    try:
        steps, field = find_field(json_path, schema, brackets=False)
    except BadPath as problem:
        return [FieldError(INVALID, path, json_path, f"is an invalid path: {problem}")]
    errors = []
    if steps[:1] == ("metadata",):
        errors.append(FieldError(INVALID, path, json_path, "must not point to fields in metadata"))
    if field.get("type") not in ("string", "boolean", "integer"):
        detail = (
            "must point to a field of type string, boolean or integer. Enum string fields and strings with "
            "formats are allowed."
        )
        errors.append(FieldError(INVALID, path, json_path, detail))
    if steps in paths:
        errors.append(FieldError(DUPLICATE, path, json_path, ""))
    paths.add(steps)
    return errors
