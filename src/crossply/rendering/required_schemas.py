"""Schemas for `render`: OpenAPI documents for functions, and the defaults of an XRD."""

from __future__ import annotations

import os
from collections.abc import Iterator

from crossply.compose.object_metadata import name_of, text_in
from crossply.errors import CrossplyError
from crossply.manifests.files import SourceError, read_bytes
from crossply.schema.defaults import apply_defaults
from crossply.schema.definition_crds import composite_crd
from crossply.values import Object
from crossply.values.endless_files import is_pipe_or_device
from crossply.values.gojson import JsonError, loads

_SAVE_HINT = "save one with: kubectl get --raw /openapi/v3/apis/GROUP/VERSION"


def load_schemas(path: str) -> list[Object]:
    """The OpenAPI v3 documents of a directory and of all directories in it."""
    prefix = f'cannot load required schemas from "{path}"'
    if not os.path.exists(path):
        raise SourceError(f"{prefix}: cannot walk directory: stat {path}: no such file or directory")
    json_files = sorted(_json_files(path), key=lambda file: file.split(os.sep))
    if not json_files:
        raise SourceError(f'{prefix}: no JSON files found in "{path}"', hint=_SAVE_HINT)
    return [_openapi(file, prefix) for file in json_files]


def _json_files(path: str) -> Iterator[str]:
    if not os.path.isdir(path):
        yield from [path] if path.endswith(".json") else []
    for folder, _, names in os.walk(path):
        files = (os.path.join(folder, name) for name in names if name.endswith(".json"))
        yield from (file for file in files if not is_pipe_or_device(file))


def _openapi(file: str, prefix: str) -> Object:
    data = read_bytes(file, f'{prefix}: cannot read file "{file}"')
    try:
        document = loads(data.decode("utf-8", "replace"))
    except JsonError as problem:
        located = problem.replace(place=file, hint=_SAVE_HINT)
        raise located.within(f'{prefix}: cannot parse OpenAPI JSON from "{file}"') from None
    # Whatever else it holds, no kind is described in it.
    return document if isinstance(document, dict) else {}


def apply_definition_defaults(xr: Object, definition: Object) -> Object:
    """The composite resource with the defaults of its XRD."""
    try:
        spec = composite_crd(definition)["spec"]
    except CrossplyError as problem:
        name = name_of(definition)
        raise problem.within(f'cannot derive CRD from XRD "{name}"') from None
    for served in spec["versions"]:
        if f"{spec['group']}/{served['name']}" == text_in(xr, "apiVersion"):
            defaulted: Object = apply_defaults(xr, served["schema"]["openAPIV3Schema"])
            return defaulted
    raise SourceError(
        f"the specified API version '{text_in(xr, 'apiVersion')}' does not exist in the XRD",
        hint="use one of the definition's versions in the composite resource's apiVersion",
    )
