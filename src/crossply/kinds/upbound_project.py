"""A Project of `up` (upbound.yaml, `meta.dev.upbound.io`), read as the Project that Crossplane's tools have.

It lists packages in `dependsOn`, in two spellings, and other APIs in `apiDependencies`; it names mirrors in
`imageConfig`, and its models are in `.up`. All else is the same.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.kinds.gostructs import STRING, Field, GoType, list_of, map_of, struct
from crossply.values import Object

API_VERSIONS = ("meta.dev.upbound.io/v1alpha1", "meta.dev.upbound.io/v2alpha1")
SCHEMAS = ".up"
PACKAGES, APIS = "dependsOn", "apiDependencies"
_KIND_OF = {"provider": "Provider", "function": "Function", "configuration": "Configuration"}
"""The older spelling of a dependency: its kind is the field that names its package."""
_METADATA_PREFIX = "meta.upbound.io/"
_TEXTS = ("maintainer", "source", "license", "description", "readme", "repository")


class Translation(NamedTuple):
    """A project in Crossplane's spelling, and what is wrong with the original."""

    project: Object
    problems: list[str]


def translated(typed: Object) -> Translation:
    """The project that a decoded upbound.yaml describes."""
    spec = typed["spec"]
    packages = spec.get(PACKAGES) or []
    problems = [problem for index, entry in enumerate(packages) for problem in _wrong_in(index, entry)]
    metadata = spec.get("additionalMetadata") or {}
    problems += [
        f'additionalMetadata key "{key}" must begin with {_METADATA_PREFIX}'
        for key in sorted(metadata)
        if not key.startswith(_METADATA_PREFIX)
    ]
    if spec.get("architectures") == []:
        problems.append("architectures must not be empty")
    return Translation({**typed, "metadata": _metadata(typed, metadata), "spec": _spec(spec)}, problems)


def _metadata(typed: Object, added: Object) -> Object:
    metadata = typed["metadata"]
    return (
        {**metadata, "annotations": {**(metadata.get("annotations") or {}), **added}} if added else metadata
    )


def _spec(spec: Object) -> Object:
    fields = (*_TEXTS, "crossplane", "architectures")
    copied = {field: spec[field] for field in fields if spec.get(field)}
    packages = [{"type": "xpkg", "xpkg": package_entry(entry)} for entry in spec.get(PACKAGES) or []]
    configs = [
        {"metadata": {"name": f"imageConfig-{index}"}, "spec": config}
        for index, config in enumerate(spec.get("imageConfig") or [])
    ]
    return {
        **copied,
        "repository": spec["repository"],
        "paths": {**(spec.get("paths") or {}), "schemas": SCHEMAS},
        "dependencies": [*packages, *(spec.get(APIS) or [])],
        "imageConfigs": configs,
    }


def package_entry(entry: Object) -> Object:
    """A dependency in the newer spelling, whichever it was written in."""
    for field, kind in _KIND_OF.items():
        if entry.get(field):
            head = {"apiVersion": "pkg.crossplane.io/v1", "kind": kind, "package": entry[field]}
            return {**head, "version": entry.get("version", "")}
    return {field: entry.get(field, "") for field in ("apiVersion", "kind", "package", "version")}


def _wrong_in(index: int, entry: Object) -> list[str]:
    spellings = [field for field in (*_KIND_OF, "package") if entry.get(field)]
    if len(spellings) == 1:
        return []
    either = "either apiVersion, kind and package, or one of provider, function and configuration"
    return [f"{PACKAGES} {index}: it must have {either}"]


def go_type(parts: dict[str, GoType]) -> GoType:
    """The Go type of an upbound.yaml; `parts` are the types that it shares with Crossplane's project."""
    text = Field(STRING)
    dependency = struct(
        "Dependency",
        dict.fromkeys((*_KIND_OF, "apiVersion", "kind", "package", "version"), text),
        "v1alpha1",
    )
    spec = struct(
        "ProjectSpec",
        {
            **dict.fromkeys(_TEXTS, text),
            "repository": Field(STRING, optional=False),
            "crossplane": Field(parts["crossplane"], pointer=True),
            "paths": Field(parts["paths"], pointer=True),
            PACKAGES: Field(list_of(dependency)),
            APIS: Field(list_of(parts["dependency"])),
            "architectures": Field(list_of(STRING), pointer=True),
            "imageConfig": Field(list_of(parts["imageConfig"])),
            "additionalMetadata": Field(map_of(STRING)),
        },
        "v1alpha1",
    )
    return struct(
        "Project",
        {"metadata": Field(parts["metadata"], optional=False), "spec": Field(spec, optional=False)},
        "v1alpha1",
    )
