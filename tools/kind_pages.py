"""The pages of the reference about the control plane's own kinds: every field, with its meaning."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

from crossply.control.definitions.core_crds import core_crds
from crossply.control.operations.operation_crds import operation_crds
from crossply.values.yaml import load

HERE = os.path.dirname(os.path.abspath(__file__))
PAGES = {
    "composition": (
        "Kinds of composition",
        (
            "CompositeResourceDefinition",
            "Composition",
            "CompositionRevision",
            "EnvironmentConfig",
            "Usage",
            "ClusterUsage",
        ),
    ),
    "packages": (
        "Kinds of packages",
        (
            "Configuration",
            "ConfigurationRevision",
            "Function",
            "FunctionRevision",
            "Provider",
            "ProviderRevision",
            "ImageConfig",
            "DeploymentRuntimeConfig",
            "RuntimeConfig",
            "Lock",
            "ManagedResourceDefinition",
            "ManagedResourceActivationPolicy",
        ),
    ),
    "operations": ("Kinds of operations", ("Operation", "CronOperation", "WatchOperation")),
    "first-design": (
        "Kinds of the first design",
        ("InfrastructureDefinition", "ApplicationDefinition", "InfrastructurePublication"),
    ),
}
"""The title and the kinds of each page."""
_NOT_FOLLOWED = (
    "spec.deploymentTemplate",
    "spec.serviceAccountTemplate",
    "spec.serviceTemplate",
    "spec.operationTemplate.spec",
)
"""Fields that are described as a whole."""
_SUPERSEDED = "usages.apiextensions.crossplane.io"


class Field(NamedTuple):
    path: str
    schema: Any
    is_required: bool


def kind_pages(notice: str) -> dict[str, Callable[[], str]]:
    """What writes each page, by its path."""
    return {
        f"docs/reference/kinds/{name}.md": partial(_page, title, kinds, notice)
        for name, (title, kinds) in PAGES.items()
    }


def _page(title: str, kinds: tuple[str, ...], notice: str) -> str:
    head = "Every field, with its type and default."
    sections = [f"# {title}", notice, head]
    for kind in kinds:
        sections += _sections(kind)
    return "\n\n".join(sections) + "\n"


@cache
def _crds() -> dict[str, Any]:
    crds = [crd for crd in (*core_crds(), *operation_crds()) if crd["metadata"]["name"] != _SUPERSEDED]
    return {crd["spec"]["names"]["kind"]: crd for crd in crds}


def _stored_version(kind: str) -> Any:
    return next(version for version in _crds()[kind]["spec"]["versions"] if version["storage"])


def fields_of(kind: str) -> Iterator[Field]:
    """The fields of a kind, in the version that is stored."""
    return _fields(_stored_version(kind)["schema"]["openAPIV3Schema"], "")


def _sections(kind: str) -> Iterator[str]:
    spec, stored = _crds()[kind]["spec"], _stored_version(kind)
    others = [
        f"`{version['name']}`" for version in spec["versions"] if version is not stored and version["served"]
    ]
    also = f" Also served as {', '.join(others)}." if others else ""
    scope = "namespaced" if spec["scope"] == "Namespaced" else "cluster scoped"
    yield f"## {kind}"
    yield f"{_descriptions()[kind]} `{spec['group']}/{stored['name']}`, {scope}.{also}"
    rows = (
        f"| `{field.path}` | {_type(field.schema)} | {meaning(kind, field)} |" for field in fields_of(kind)
    )
    yield "\n".join(("| field | type | meaning |", "|---|---|---|", *rows))


def _fields(schema: Any, path: str) -> Iterator[Field]:
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        at = f"{path}.{name}" if path else name
        if at in ("apiVersion", "kind", "metadata", "status.conditions"):
            continue
        yield Field(at, field, name in required)
        if at not in _NOT_FOLLOWED:
            yield from _fields(field, at)
            if isinstance(field.get("items"), dict):
                yield from _fields(field["items"], f"{at}[]")


def _type(schema: Any) -> str:
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def meaning(kind: str, field: Field) -> str:
    """What a page says about a field."""
    notes = [field.schema.get("description") or _description(kind, field.path)]
    if field.is_required:
        notes.append("Required.")
    if field.schema.get("default") not in (None, "", {}, []):
        default = field.schema["default"]
        notes.append(f"Default: `{default if isinstance(default, str) else json.dumps(default)}`.")
    if "enum" in field.schema and "`" not in notes[0]:
        notes.append("One of " + ", ".join(f"`{value}`" for value in field.schema["enum"]) + ".")
    return " ".join(" ".join(notes).replace("|", "\\|").split())


@cache
def _descriptions() -> dict[str, str]:
    with open(os.path.join(HERE, "kind_descriptions.yaml"), "rb") as file:
        described: dict[str, str] = load(file.read())
    return described


def _description(kind: str, path: str) -> str:
    """What is written for the field of a kind, of all kinds, or of every path that ends so."""
    described = _descriptions()
    for key in (f"{kind} {path}", path):
        if key in described:
            return described[key]
    ends = [entry for entry in described if entry.startswith(".") and path.endswith(entry)]
    if not ends:
        raise KeyError(f"tools/kind_descriptions.yaml does not describe {path}")
    return described[max(ends, key=len)]
