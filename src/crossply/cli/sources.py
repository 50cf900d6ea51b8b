"""Reading the YAML files that commands are given, with the sentences Crossplane has for what goes wrong."""

from __future__ import annotations

import os

from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.yaml import Document, YamlError, read_stream

_ENDINGS = (".yaml", ".yml")


class SourceError(CrossplyError):
    """A file that was named cannot be read, or does not hold what it should."""

    code = "CP-510"


def read_bytes(path: str, purpose: str) -> bytes:
    """The content of a file; `purpose` begins the sentence when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as problem:
        raise SourceError(f"{purpose}: open {path}: {reason(problem)}", hint="check the path") from None


def reason(problem: OSError) -> str:
    """Why the operating system refused, in the words that Go has for it."""
    text = problem.strerror or str(problem)
    return text[:1].lower() + text[1:]


def first_document(path: str, purpose: str, unreadable: str) -> Document:
    """The first document of a file that should have one only."""
    data = read_bytes(path, unreadable)
    try:
        documents = read_stream(data, path)
    except YamlError as problem:
        raise problem.within(f"{purpose}: error converting YAML to JSON") from None
    return documents[0] if documents else Document(None, path, 1)


def read_documents(path: str, purpose: str) -> list[Document]:
    """The documents of a file, or of all YAML files right inside a directory; empty ones are left out."""
    documents = []
    for file in _files(path):
        data = read_bytes(file, "cannot load YAML stream from file: cannot open file")
        try:
            documents += [d for d in read_stream(data, file) if d.text.strip()]
        except YamlError as problem:
            raise problem.within(f"{purpose}: error converting YAML to JSON") from None
    return documents


def _files(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    names = sorted(entry.name for entry in os.scandir(path) if not entry.is_dir())
    found = [os.path.join(path, name) for name in names if name.endswith(_ENDINGS)]
    if not found:
        raise SourceError(
            f'cannot load YAML stream from file: no YAML files found in "{path}" (.yaml or .yml)',
            hint="files of sub-directories are not read",
        )
    return found


def object_of(document: Document, purpose: str) -> Object:
    """The object in a document, which must at least say its kind."""
    value = document.value
    if isinstance(value, dict) and isinstance(value.get("kind"), str) and value["kind"]:
        return value
    from crossply.values.gojson import dumps

    raise SourceError(
        f"{purpose}: error unmarshaling JSON: while decoding JSON: Object 'Kind' is missing in "
        f"'{dumps(value)}'",
        place=f"{document.source}:{document.line}",
        hint="every object needs apiVersion and kind",
    )
