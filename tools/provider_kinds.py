"""The pages of the reference about the kinds of the providers in `providers/`, from their CRDs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from crossply.values.yaml import load

PROVIDERS = "providers"
PAGES = "docs/reference/providers"


def provider_pages(root: str, notice: str) -> dict[str, Callable[[], str]]:
    """What writes the page of each provider whose CRDs are there, by the path of the page."""
    names = sorted(os.listdir(os.path.join(root, PROVIDERS)))
    return {
        f"{PAGES}/{name}.md": partial(_page, os.path.join(root, PROVIDERS, name), name, notice)
        for name in names
        if os.path.isdir(os.path.join(root, PROVIDERS, name, "package", "crds"))
    }


def _page(directory: str, name: str, notice: str) -> str:
    with open(os.path.join(directory, "crossplane.yaml"), "rb") as file:
        annotations = load(file.read())["metadata"].get("annotations", {})
    sections = [
        f"# Kinds of provider-{name}",
        notice,
        annotations.get("meta.crossplane.io/description", ""),
        "Managed resources also have `spec.managementPolicies`, `spec.writeConnectionSecretToRef` and "
        f"conditions. The code is in [{PROVIDERS}/{name}](../../../{PROVIDERS}/{name}).",
    ]
    for crd in _crds(os.path.join(directory, "package", "crds")):
        if not crd["spec"]["names"]["kind"].endswith("ConfigUsage"):  # written by the provider itself
            sections += _kind_sections(crd)
    return "\n\n".join(section for section in sections if section) + "\n"


def _crds(directory: str) -> Iterator[Any]:
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as file:
            yield load(file.read())


def _kind_sections(crd: Any) -> list[str]:
    version = crd["spec"]["versions"][0]
    schema = version["schema"]["openAPIV3Schema"]
    properties = schema["properties"]
    spec = properties.get("spec", {})
    parameters = spec.get("properties", {}).get("forProvider", {})
    observed = properties.get("status", {}).get("properties", {}).get("atProvider", {})
    scope = "namespaced" if crd["spec"]["scope"] == "Namespaced" else "cluster scoped"
    sections = [
        f"## {crd['spec']['names']['kind']}",
        f"`{crd['spec']['group']}/{version['name']}`, {scope}. {schema.get('description', '')}",
    ]
    if parameters:
        return [
            *sections,
            _table("spec.forProvider", parameters, _required(spec, parameters)),
            _table("status.atProvider", observed, set()),
        ]
    return [*sections, _table("spec", spec, set(spec.get("required", ())))]


def _required(spec: Any, parameters: Any) -> set[str]:
    """The parameters that must be given; rules on the spec ask for them where something may be created."""
    end = " is a required parameter"
    messages = [rule.get("message", "") for rule in spec.get("x-kubernetes-validations", ())]
    named = {message.removesuffix(end).rsplit(".", 1)[-1] for message in messages if message.endswith(end)}
    return named | set(parameters.get("required", ()))


def _table(head: str, schema: Any, required: set[str]) -> str:
    properties = schema.get("properties", {})
    rows = [
        (_names(name, properties), _type(field), _meaning(field, name in required))
        for name, field in properties.items()
        if not _belongs_to_another(name, properties)
    ]
    lines = [f"| {head} | type | meaning |", "|---|---|---|"]
    lines += ["| {} | {} | {} |".format(*(_cell(cell) for cell in row)) for row in rows]
    return "\n".join(lines) if rows else ""


def _names(name: str, properties: Any) -> str:
    return ", ".join(f"`{other}`" for other in (name, *_companions(name)) if other in properties)


def _companions(name: str) -> tuple[str, ...]:
    return (f"{name}Ref", f"{name}Refs", f"{name.removesuffix('s')}Refs", f"{name}Selector")


def _belongs_to_another(name: str, properties: Any) -> bool:
    return any(name in _companions(other) for other in properties if other != name)


def _type(field: Any) -> str:
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}"
    return str(field.get("type", "any"))


def _meaning(field: Any, is_required: bool) -> str:
    notes = [field.get("description", "")]
    if is_required:
        notes.append("Required.")
    if any(rule.get("rule") == "self == oldSelf" for rule in field.get("x-kubernetes-validations", ())):
        notes.append("It cannot be changed.")
    if field.get("default") not in (None, "", 0):
        notes.append(f"Default: `{field['default']}`.")
    if "enum" in field:
        notes.append("One of " + ", ".join(f"`{value}`" for value in field["enum"]) + ".")
    for keyword, words in (("minimum", "At least"), ("maximum", "At most"), ("pattern", "Pattern")):
        if keyword in field:
            notes.append(f"{words} `{field[keyword]}`.")
    return " ".join(note for note in notes if note)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
