"""YAML files that users name: read, with Crossplane's messages for what goes wrong."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TextIO

from crossply.errors import CrossplyError
from crossply.values import Object, yaml
from crossply.values.api_version import api_group
from crossply.values.endless_files import is_pipe_or_device
from crossply.values.yaml import Document, SeparatorError, YamlError, read_first
from crossply.values.yaml.limits import MAX_BYTES

_ENDINGS = (".yaml", ".yml")
_STREAM = "cannot load YAML stream from file"


class SourceError(CrossplyError):
    """A file that was named cannot be read, or does not hold what it should."""

    code = "CP-510"


def read_bytes(path: str, purpose: str) -> bytes:
    """The content of a file; `purpose` begins the error message."""
    try:
        with open(path, "rb") as file:
            # Not everything that can be opened ends, and no manifest has this size.
            data = file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise SourceError(f"{purpose}: open {path}: {reason(problem)}", hint="check the path") from None
    if len(data) > MAX_BYTES:
        raise SourceError(
            f"{purpose}: {path} is larger than {MAX_BYTES >> 20} MiB",
            hint="split the file, or check that it is the one you meant",
        )
    return data


def reason(problem: OSError) -> str:
    """Why the operating system refused, in the words that Go has for it."""
    text = problem.strerror or str(problem)
    return text[:1].lower() + text[1:]


def first_document(path: str, purpose: str, unreadable: str) -> Document:
    """The first document of a file that should have one only; what follows it is not read."""
    data = read_bytes(path, unreadable)
    try:
        return read_first(data, path)
    except YamlError as problem:
        raise problem.within(f"{purpose}: error converting YAML to JSON") from None


def read_documents(path: str, purpose: str) -> list[Document]:
    """The documents of a file, or of all YAML files right inside a directory; blank ones are left out."""
    documents = []
    for file in _files(path):
        data = read_bytes(file, f"{_STREAM}: cannot open file")
        try:
            documents += yaml.read_documents(data, file)
        except SeparatorError as problem:
            raise problem.within(f"{_STREAM}: {_STREAM}: cannot parse YAML stream") from None
        except YamlError as problem:
            raise problem.within(f"{purpose}: error converting YAML to JSON") from None
    return documents


def _files(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    try:
        names = sorted(entry.name for entry in os.scandir(path) if not _is_unread(entry))
    except OSError as problem:
        raise SourceError(f"{_STREAM}: cannot open file: open {path}: {reason(problem)}") from None
    files = [os.path.join(path, name) for name in names if name.endswith(_ENDINGS)]
    if not files:
        raise SourceError(
            f'{_STREAM}: no YAML files found in "{path}" (.yaml or .yml)',
            hint="files of sub-directories are not read",
        )
    return files


def _is_unread(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir() or is_pipe_or_device(entry.path)


def object_of(document: Document, purpose: str) -> Object:
    """The object in a document, which must at least say its kind."""
    value = document.value
    if isinstance(value, dict) and isinstance(value.get("kind"), str) and value["kind"]:
        api_version = value.get("apiVersion")
        if not isinstance(api_version, str) or api_version.count("/") < 2:
            return value
    raise SourceError(
        f"{purpose}: error unmarshaling JSON: while decoding JSON: {_why_no_object(value)}",
        place=f"{document.source}:{document.line}",
        hint="every object needs kind, and an apiVersion of the form group/version",
    )


def _why_no_object(value: Any) -> str:
    if value is not None and not isinstance(value, dict):
        from crossply.kinds.gostructs import json_kind

        return f"json: cannot unmarshal {json_kind(value)} into Go value of type map[string]interface {{}}"
    from crossply.values.gojson import dumps

    return f"Object 'Kind' is missing in '{dumps(value)}'"


_PURPOSE = "cannot parse YAML manifest"
_GROUPS_OF_PROGRAMS = (
    "crossply.dev",
    "dev.crossplane.io",
    "kustomize.config.k8s.io",
    "meta.dev.upbound.io",
    "meta.pkg.crossplane.io",
)


def is_resource(obj: Object) -> bool:
    """Whether an object is for an API server: test suites, projects and the metadata of packages are not."""
    return api_group(str(obj.get("apiVersion") or "")) not in _GROUPS_OF_PROGRAMS


def read_objects(paths: Iterable[str], stdin: TextIO) -> list[Object]:
    """Every resource, those of lists one by one."""
    objects: list[Object] = []
    for path in paths:
        for document in _standard_input(stdin) if path == "-" else read_documents(path, _PURPOSE):
            objects += filter(is_resource, objects_in(document))
    if not objects:
        raise SourceError("the files have no objects", hint="name files that hold XRs, Compositions or XRDs")
    return objects


def _standard_input(stdin: TextIO) -> list[Document]:
    try:
        return yaml.read_documents(stdin.buffer.read(), "standard input")
    except YamlError as problem:
        raise problem.within(f"{_PURPOSE}: error converting YAML to JSON") from None


def objects_in(document: Document) -> list[Object]:
    """The object of a document, or those of a list."""
    value = document.value
    if isinstance(value, dict) and value.get("kind") == "List" and isinstance(value.get("items"), list):
        return [
            object_of(Document(item, document.source, document.line, b""), _PURPOSE)
            for item in value["items"]
        ]
    if value is None:
        return []
    return [object_of(document, _PURPOSE)]
