"""Reading the objects that `plan` is given: files, directories, standard input."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from crossply.manifests.files import SourceError, object_of, read_documents
from crossply.values import Object, yaml
from crossply.values.yaml import Document, YamlError

_PURPOSE = "cannot parse YAML manifest"


def read_objects(paths: Iterable[str], stdin: TextIO) -> list[Object]:
    """Every object, those of lists one by one."""
    objects: list[Object] = []
    for path in paths:
        for document in _standard_input(stdin) if path == "-" else read_documents(path, _PURPOSE):
            objects += _objects_in(document)
    if not objects:
        raise SourceError("the files have no objects", hint="name files that hold XRs, Compositions or XRDs")
    return objects


def _standard_input(stdin: TextIO) -> list[Document]:
    try:
        return yaml.read_documents(stdin.buffer.read(), "standard input")
    except YamlError as problem:
        raise problem.within(f"{_PURPOSE}: error converting YAML to JSON") from None


def _objects_in(document: Document) -> list[Object]:
    value = document.value
    if isinstance(value, dict) and value.get("kind") == "List" and isinstance(value.get("items"), list):
        return [
            object_of(Document(item, document.source, document.line, b""), _PURPOSE)
            for item in value["items"]
        ]
    if value is None:
        return []
    return [object_of(document, _PURPOSE)]
