"""Schemas that `render` is given: OpenAPI documents for functions, and a definition's defaults."""

from __future__ import annotations

import os

from crossply.cli.sources import SourceError, read_bytes, reason
from crossply.compose.metadata import text_in
from crossply.schema.crd import composite_crd
from crossply.schema.defaults import apply_defaults
from crossply.values import Object


def load_schemas(path: str) -> list[Object]:
    """The OpenAPI v3 documents of a directory."""
    import json

    story = f'cannot load required schemas from "{path}"'
    try:
        names = sorted(name for name in os.listdir(path) if name.endswith(".json"))
    except OSError as problem:
        raise SourceError(f"{story}: open {path}: {reason(problem)}") from None
    documents = []
    for name in names:
        file = os.path.join(path, name)
        try:
            document = json.loads(read_bytes(file, story))
        except (ValueError, RecursionError) as problem:
            raise SourceError(
                f"{story}: cannot parse OpenAPI document: {problem}",
                place=file,
                hint="save one with: kubectl get --raw /openapi/v3/apis/GROUP/VERSION",
            ) from None
        if isinstance(document, dict):
            documents.append(document)
    return documents


def apply_definition_defaults(xr: Object, definition: Object) -> Object:
    """The composite resource with the defaults that its definition gives."""
    version = text_in(xr, "apiVersion").rpartition("/")[2]
    for served in composite_crd(definition)["spec"]["versions"]:
        if served["name"] == version:
            defaulted: Object = apply_defaults(xr, served["schema"]["openAPIV3Schema"])
            return defaulted
    raise SourceError(
        f"the specified API version '{text_in(xr, 'apiVersion')}' does not exist in the XRD",
        hint="use one of the definition's versions in the composite resource's apiVersion",
    )
