"""From rendered text to manifests, and to an error that shows the line when the text is no YAML.

Documents are read one by one and the last ones are remembered by their text: most renders of a template
give most documents again.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from crossply.values import Object, yaml
from crossply.values.gojson import dumps
from crossply.values.goquote import quote
from crossply.values.structs import StructError, to_wire
from crossply.values.yaml import LimitError, YamlError

RESOURCE_NAME = "gotemplating.fn.crossplane.io/composition-resource-name"

_JSON_KINDS = {str: "string", bool: "bool", int: "number", float: "number", list: "array"}
_GO_TYPES = {
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
    type(None): "<nil>",
}
_SHOWN = 80
_LARGE = 1 << 15
"""Documents longer than this are not remembered."""
_MAX_MANIFESTS = 20_000


class ManifestError(Exception):
    """The rendered text is not what it must be. It never leaves the function: it becomes a fatal result."""


def read_manifests(text: str) -> list[Object]:
    """The objects of a rendered text, as a function's response holds them; empty documents are left out."""
    pieces = _json_values(text) if text.lstrip().startswith("{") else None
    manifests: list[Object] = []
    for number, piece in enumerate(pieces if pieces is not None else list(_pieces(text))):
        try:
            value = _value(piece) if len(piece) > _LARGE else _known_value(piece)
        except YamlError as error:
            raise ManifestError(_yaml_problem(error, text, piece, number, len(manifests))) from None
        if value is not None:
            manifests.append(_checked(value))
        if len(manifests) > _MAX_MANIFESTS:
            raise ManifestError(f"cannot decode manifest: more than {_MAX_MANIFESTS} documents")
    return manifests


def _json_values(text: str) -> list[str] | None:
    """The values of a stream of JSON, which needs no separators; None when it is something else."""
    import json

    decoder = json.JSONDecoder()
    pieces: list[str] = []
    at = 0
    try:
        while at < len(text):
            _, end = decoder.raw_decode(text, at)
            pieces.append(text[at:end])
            at = end + len(text[end:]) - len(text[end:].lstrip())
    except (ValueError, RecursionError):
        return None
    return pieces


def _pieces(text: str) -> Iterator[str]:
    """Cut before each line that starts a document."""
    start = 0
    while True:
        cut = text.find("\n---", start)
        if cut < 0:
            break
        yield text[start : cut + 1]
        start = cut + 1
    yield text[start:]


def _value(piece: str) -> Any:
    """The value of a document, numbers as doubles."""
    documents = yaml.read_stream(piece)
    try:
        return to_wire(documents[0].value) if documents else None
    except StructError as problem:
        raise YamlError(str(problem)) from None


_known_value = lru_cache(maxsize=2048)(_value)
"""`_value`, remembered: nobody may change what it returns."""


def _checked(value: Any) -> Object:
    """An object with a kind, and annotations that are strings."""
    prefix = "cannot decode manifest: error unmarshaling JSON: while decoding JSON: "
    if not isinstance(value, dict):
        kind = _JSON_KINDS[type(value)]
        raise ManifestError(
            f"{prefix}json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
        )
    if not value.get("kind") or not isinstance(value["kind"], str):
        raise ManifestError(f"{prefix}Object 'Kind' is missing in '{dumps(value)}'")
    problem = _annotation_problem(value)
    if problem:
        named = f"{_group_version_kind(value)} resource-name={_name_of(value)}"
        raise ManifestError(f"invalid annotations in resource '{named}': {problem}")
    return value


def annotations_of(manifest: Object) -> Object:
    """The annotations of a manifest that `read_manifests` returned."""
    metadata = manifest.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return annotations or {}


def _annotation_problem(manifest: Object) -> str:
    metadata = manifest.get("metadata")
    if metadata is None:
        return ""
    if not isinstance(metadata, dict):
        return _not_a_map(".metadata.annotations", metadata)
    if "annotations" not in metadata:
        return ""
    annotations = metadata["annotations"]
    if not isinstance(annotations, dict):
        return _not_a_map(".metadata.annotations", annotations)
    for key in sorted(annotations):
        value = annotations[key]
        if not isinstance(value, str):
            shown, kind = _shown(value)
            return (
                ".metadata.annotations accessor error: contains non-string value in the map under key "
                f"{quote(key)}: {shown} is of the type {kind}, expected string"
            )
    return ""


def _not_a_map(path: str, value: Any) -> str:
    shown, kind = _shown(value)
    return f"{path} accessor error: {shown} is of the type {kind}, expected map[string]interface{{}}"


def _shown(value: Any) -> tuple[str, str]:
    """A value as Go prints it, and its type; whole numbers are int64 there."""
    from crossply.values.goformat import sprintf

    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return sprintf("%v", [value]), _GO_TYPES.get(type(value), "string")


def _name_of(manifest: Object) -> str:
    metadata = manifest["metadata"]
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    name = annotations.get(RESOURCE_NAME) if isinstance(annotations, dict) else None
    return _shown(name)[0]


def _group_version_kind(manifest: Object) -> str:
    version = manifest.get("apiVersion")
    group, _, version = (version if isinstance(version, str) else "").rpartition("/")
    return f"{group}/{version}, Kind={manifest['kind']}"


def _yaml_problem(error: YamlError, text: str, piece: str, number: int, before: int) -> str:
    """What the published function says, with the place in the rendered text, and the line itself."""
    if number and not isinstance(error, LimitError):
        error = _again(piece.partition("\n")[2]) or error  # Go does not count the separator's line
    message = str(error)
    prefix = "cannot decode manifest: error converting YAML to JSON: "
    line, _, problem = message.removeprefix("yaml: line ").partition(": ")
    lines = text.split("\n")
    if not message.startswith("yaml: line ") or not line.isdigit():
        is_separator = message.startswith("invalid Yaml document separator")
        return f"cannot decode manifest: {message}" if is_separator else prefix + message
    at = _start_line(lines, before) + int(line)
    if not 0 < at <= len(lines):
        return prefix + message
    near = lines[at - 1].strip()
    near = near if len(near) <= _SHOWN else f"{near[:_SHOWN]}..."
    place = f"yaml: line {at} (document {before + 1}, line {line}) near: '{near}': {problem}"
    return prefix + place


def _again(text: str) -> YamlError | None:
    try:
        yaml.read_stream(text)
    except YamlError as error:
        return error
    return None


def _start_line(lines: list[str], documents: int) -> int:
    """The line where the published function thinks that a document starts."""
    start = 1
    for _ in range(documents + 1):
        start = next((at for at in range(start + 1, len(lines) + 1) if lines[at - 1].strip() == "---"), start)
    return start
