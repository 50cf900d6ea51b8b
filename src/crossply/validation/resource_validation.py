"""Validates resources against CRDs and built-in kinds: one result for each resource.

For each resource: apply defaults, check the schema, report unknown fields, evaluate CEL rules. A kind that
Kubernetes itself serves is read strictly as its Go type instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from crossply.errors import CrossplyError
from crossply.manifests.manifest import Manifest
from crossply.schema.field_errors import INVALID, FieldError
from crossply.validation.extension_schemas import Extensions
from crossply.values import Object
from crossply.values.api_version import split_api_version
from crossply.values.yaml import Document

_NAME_ANNOTATION = "crossplane.io/composition-resource-name"


class SchemaError(CrossplyError):
    """A CRD has a schema that values cannot be validated against."""

    code = "CP-562"


class Finding(NamedTuple):
    """One thing that is wrong: its type (schema, unknownField, cel, defaulting) and the field error."""

    type: str
    message: str
    error: FieldError | None = None


class Outcome(NamedTuple):
    """What validation found for one resource; `status` is as Crossplane's output names it."""

    api_version: str
    kind: str
    name: str
    namespace: str
    status: str
    findings: list[Finding]
    manifest: Manifest


class _Kind:
    """The schema of one version of a CRD, ready for many resources."""

    __slots__ = ("rules", "schema")

    def __init__(self, schema: Object) -> None:
        from crossply.schema.cel_object_validation import RuleChecker

        self.schema = schema
        self.rules = RuleChecker(schema)


class Schemas:
    """The kinds of a list of CRDs. Of two CRDs for a kind the last validates and the first defaults."""

    def __init__(self, crds: list[Object]) -> None:
        self._kinds: dict[tuple[str, str, str], _Kind] = {}
        self._first: dict[tuple[str, str], Object] = {}
        for crd in crds:
            self._add(crd)

    def _add(self, crd: Object) -> None:
        from crossply.schema.unsupported_schema_keywords import normalized, structural_problem

        spec = crd.get("spec") or {}
        group, kind = spec.get("group") or "", (spec.get("names") or {}).get("kind") or ""
        self._first.setdefault((group, kind), crd)
        for version in spec.get("versions") or ():
            schema = (version.get("schema") or {}).get("openAPIV3Schema")
            if schema is None:
                continue
            problem = structural_problem(schema)
            if problem:
                raise SchemaError(f"cannot validate resources: cannot create schema validators: {problem}")
            self._kinds[group, version.get("name") or "", kind] = _Kind(_without_int32(normalized(schema)))

    def validate(self, manifest: Manifest) -> Outcome:
        """Validate one resource."""
        group, version = split_api_version(manifest.api_version)
        kind = self._kinds.get((group, version, manifest.kind))
        if kind is not None:
            return _outcome(manifest, self._findings(manifest.value, kind, (group, version)))
        from crossply.schema.builtin_go_types import type_of_kind

        go_type = type_of_kind(manifest.api_version, manifest.kind)
        return _outcome(manifest, None if go_type is None else _strict_findings(manifest.value, go_type))

    def _findings(self, value: Object, kind: _Kind, version: tuple[str, str]) -> list[Finding]:
        from crossply.schema.defaults import apply_defaults
        from crossply.schema.prune import prune, unknown_fields
        from crossply.schema.validation import as_json, validate

        findings: list[Finding] = []
        defaults, problem = self._default_schema(value["kind"], *version)
        if problem:
            findings.append(Finding("defaulting", problem))
        defaulted = apply_defaults(value, defaults)
        findings += [_finding("schema", error) for error in validate(as_json(defaulted), kind.schema)]
        findings += [_unknown(path) for path in unknown_fields(defaulted, kind.schema)]
        findings += [_finding("cel", error) for error in kind.rules.check(prune(defaulted, kind.schema))]
        return findings

    def _default_schema(self, kind: str, group: str, version: str) -> tuple[Object, str]:
        crd = self._first[group, kind]
        for served in crd["spec"].get("versions") or ():
            schema = (served.get("schema") or {}).get("openAPIV3Schema")
            if served.get("name") == version and schema is not None:
                return schema, ""
        name = (crd.get("metadata") or {}).get("name", "")
        return {}, f"no schema found for version {version} in CRD {name}"


def _without_int32(schema: Any) -> Any:
    """A schema as the CLI reads it, which knows no int32; API servers do."""
    if isinstance(schema, list):
        return [_without_int32(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_int32(value) for key, value in schema.items() if (key, value) != ("format", "int32")
    }


def _finding(kind: str, error: FieldError) -> Finding:
    return Finding(kind, str(error), error)


def _unknown(path: str) -> Finding:
    name = path.rpartition(".")[2]
    return _finding("unknownField", FieldError(INVALID, path, name, f'unknown field: "{name}"'))


def _strict_findings(value: Object, go_type: str) -> list[Finding]:
    from crossply.schema.go_decode_errors import strict_problem

    problem = strict_problem(value, go_type)
    return [Finding("schema", problem)] if problem else []


def _outcome(manifest: Manifest, findings: list[Finding] | None) -> Outcome:
    metadata = manifest.value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    annotations = metadata.get("annotations")
    annotations = annotations if isinstance(annotations, dict) else {}
    return Outcome(
        manifest.api_version,
        manifest.kind,
        _text(metadata.get("name")) or _text(annotations.get(_NAME_ANNOTATION)),
        _text(metadata.get("namespace")),
        _status(findings),
        findings or [],
        manifest,
    )


def _status(findings: list[Finding] | None) -> str:
    if findings is None:
        return "missingSchema"
    if not findings:
        return "valid"
    return "defaultingFailed" if all(finding.type == "defaulting" for finding in findings) else "invalid"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


class ObjectValidator:
    """The kinds that are known: those of definitions and CRDs, and those that Kubernetes itself serves."""

    __slots__ = ("_schemas",)

    def __init__(self, definitions: Iterable[Object]) -> None:
        extensions = Extensions()
        extensions.add([_manifest(definition) for definition in definitions])
        self._schemas = Schemas(extensions.crds)

    def problems(self, obj: Object) -> list[str]:
        """Why the object would be refused; empty for an unknown kind."""
        return [finding.message for finding in self._schemas.validate(_manifest(obj)).findings]


def _manifest(value: Object) -> Manifest:
    return Manifest(value, Document(value, "", 1))
