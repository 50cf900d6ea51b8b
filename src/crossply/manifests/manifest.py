"""Manifests: objects with the document that they were read from, of files, directories or stdin."""

from __future__ import annotations

import os
from typing import NamedTuple, TextIO

from crossply.manifests.files import SourceError, object_of, read_bytes, reason
from crossply.values import Object
from crossply.values.api_version import api_group
from crossply.values.endless_files import is_pipe_or_device
from crossply.values.yaml import Document, YamlError, read_documents

_ENDINGS = (".yaml", ".yml")
_MANIFEST = "cannot parse YAML manifest"


class Manifest(NamedTuple):
    """An object and its source: a document, and for a pipeline input the path in it."""

    value: Object
    document: Document
    inside: tuple[str | int, ...] = ()

    @property
    def api_version(self) -> str:
        """The API version, or nothing where it is not a text."""
        version = self.value.get("apiVersion")
        return version if isinstance(version, str) else ""

    @property
    def kind(self) -> str:
        """The kind; only the input of a pipeline may lack it."""
        kind = self.value.get("kind")
        return kind if isinstance(kind, str) else ""

    @property
    def group_kind(self) -> tuple[str, str]:
        """The API group and the kind."""
        return api_group(self.api_version), self.kind


def load_manifests(sources: str, noun: str, stdin: TextIO) -> list[Manifest]:
    """Read the objects of a comma-separated list of sources; `what` names them in errors."""
    try:
        names = sources.split(",")
        for name in names:
            _check(name, f'cannot create loader for "{name}": ' if len(names) > 1 else "")
        return [manifest for index in range(len(names)) for manifest in _load(names, index, stdin)]
    except (SourceError, YamlError) as problem:
        sentence = f'cannot load {noun} from "{sources}": {problem}'
        raise SourceError(sentence, place=problem.place, hint=problem.hint) from None


def read_directory(path: str) -> list[Manifest]:
    """Read the objects of all YAML files in a directory and below it."""
    files = files_below(path)
    documents = [document for file in files for document in _documents(file, "cannot read folder")]
    return [manifest for document in documents for manifest in _manifests(document)]


def _check(source: str, purpose: str) -> None:
    try:
        if source != "-":
            os.stat(source)
    except OSError as problem:
        sentence = f"{purpose}cannot stat input source: stat {source}: {reason(problem)}"
        raise SourceError(sentence, hint="check the path") from None


def _load(sources: list[str], index: int, stdin: TextIO) -> list[Manifest]:
    source = sources[index]
    try:
        if os.path.isdir(source):
            return read_directory(source)
        from_stdin = source == "-"
        documents = (
            _parse(stdin.buffer.read(), "<stdin>") if from_stdin else _documents(source, "cannot read file")
        )
        return [manifest for document in documents for manifest in _manifests(document)]
    except (SourceError, YamlError) as problem:
        position = f"cannot load source at position {index}: " if len(sources) > 1 else ""
        raise SourceError(f"{position}{problem}", place=problem.place, hint=problem.hint) from None


def files_below(path: str) -> list[str]:
    """All YAML files in a directory and below it; a pipe or a device is none, and might never end."""
    files = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
    return sorted(file for file in files if file.endswith(_ENDINGS) and not is_pipe_or_device(file))


def _documents(path: str, purpose: str) -> list[Document]:
    return _parse(read_bytes(path, f"{purpose}: cannot open file"), path)


def _parse(data: bytes, source: str) -> list[Document]:
    try:
        return read_documents(data, source)
    except YamlError as problem:
        raise problem.within(f"{_MANIFEST}: error converting YAML to JSON") from None


def _manifests(document: Document) -> list[Manifest]:
    value = object_of(document, _MANIFEST)
    return [*_pipeline_inputs(value, document), Manifest(value, document)]


def _pipeline_inputs(value: Object, document: Document) -> list[Manifest]:
    """The inputs of a Composition's steps: they are objects of their own kinds and validated as such."""
    version = value.get("apiVersion")
    if value["kind"] != "Composition" or version != "apiextensions.crossplane.io/v1":
        return []
    spec = value.get("spec")
    pipeline = spec.get("pipeline") if isinstance(spec, dict) else None
    steps = pipeline if isinstance(pipeline, list) else []
    return [
        Manifest(step["input"], document, ("spec", "pipeline", index, "input"))
        for index, step in enumerate(steps)
        if isinstance(step, dict) and isinstance(step.get("input"), dict)
    ]
