"""Defaults of a CustomResourceDefinition, with its schemas in the form that Go writes."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.apiextensions.schema_survey import survey
from crossply.apiserver.endpoints.status_errors import bad_request
from crossply.kinds.gostructs import DecodeError
from crossply.schema.json_schema_props import decode_props
from crossply.values import Object
from crossply.values.nesting import nests_deeper

DEEPEST = 200
"""How deep a schema may nest, counted in JSON levels: every walk over it is recursive."""


def default_definition(obj: Object) -> Object:
    """The definition with schemas in Go's form and the server's defaults; raises a 400 StatusError."""
    spec = dict(obj.get("spec") or {})
    versions = spec.get("versions")
    if isinstance(versions, list):
        spec["versions"] = [_read_version(version) for version in versions]
    spec["names"] = _default_names(spec.get("names") or {})
    spec["conversion"] = _default_conversion(spec.get("conversion"))
    return {**obj, "spec": spec}


def _read_version(version: Any) -> Any:
    schema = version.get("schema") if isinstance(version, dict) else None
    if not isinstance(schema, dict) or schema.get("openAPIV3Schema") is None:
        return version
    return {**version, "schema": {"openAPIV3Schema": _read_schema(schema["openAPIV3Schema"])}}


def _read_schema(schema: Any) -> Object:
    known = survey(schema)
    if (known.levels is None or known.levels > DEEPEST) and nests_deeper(schema, DEEPEST):
        raise _unreadable("exceeded max depth")
    if known.is_plain:
        plain: Object = schema
        return plain
    try:
        return decode_props(schema)
    except DecodeError as problem:
        raise _unreadable(str(problem)) from None


def _unreadable(why: str) -> Exception:
    kind = "CustomResourceDefinition"
    return bad_request(f'{kind} in version "v1" cannot be handled as a {kind}: {why}')


def _default_names(names: Object) -> Object:
    kind = names.get("kind") or ""
    filled = dict(names)
    if not filled.get("singular") and kind:
        filled["singular"] = kind.lower()
    if not filled.get("listKind") and kind:
        filled["listKind"] = f"{kind}List"
    return filled


def _default_conversion(conversion: Any) -> Object:
    if conversion is None:
        return {"strategy": "None"}
    webhook = conversion.get("webhook") or {}
    client = webhook.get("clientConfig") or {}
    service = client.get("service")
    if service is None or service.get("port") is not None:
        return dict(conversion)
    client = {**client, "service": {**service, "port": 443}}
    return {**conversion, "webhook": {**webhook, "clientConfig": client}}


def stored_version(definition: Object) -> str:
    """The name of the storage version; empty if there is none."""
    for version in (definition.get("spec") or {}).get("versions") or ():
        if version.get("storage"):
            return str(version.get("name") or "")
    return ""


def fresh_status(definition: Object) -> Object:
    """The status of a new definition."""
    version = stored_version(definition)
    return {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": [version] if version else None,
    }


def with_stored_version(definition: Object) -> Object:
    """The definition with its storage version among status.storedVersions."""
    status = definition.get("status") or fresh_status(definition)
    version, known = stored_version(definition), status.get("storedVersions") or []
    if version and version not in known:
        status = {**status, "storedVersions": [*known, version]}
    return {**definition, "status": status}
