"""Decoding rendered text into manifests, with errors that show the line.

Documents are decoded one by one and cached by their text: most renders of a template repeat most documents.

Text that starts with JSON is decoded value by value like Kubernetes' decoder does. JSON values need no
separator. The decoder reads JSON until a value is invalid, or is no object with a kind. After at most one
value it reads the rest as YAML; the JSON error is reported if the first YAML document is invalid, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import Any, NamedTuple

from crossply.compose.object_metadata import text_in
from crossply.values import Object, yaml
from crossply.values.api_version import format_kind
from crossply.values.gojson import dumps
from crossply.values.goquote import quote, utf8
from crossply.values.protobuf_struct import StructError, to_wire
from crossply.values.yaml import YamlError
from crossply.values.yaml.stream import split, with_plain_lines

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
"""Documents longer than this are not cached."""
_SPACES = re.compile(r"[ \t\r\n]*")
_SPACES_OF_A_LINE = re.compile(r"[^\S\n]*\n?")
_UNEXPECTED_END = "unexpected end of JSON input"
_MAX_VALUES = 20_000


class ManifestError(Exception):
    """The rendered text is invalid. It never leaves the function: it becomes a fatal result."""


def read_manifests(text: str) -> list[Object]:
    """The objects of a rendered text; empty documents are skipped."""
    start = _json_start(text)
    manifests = [_checked(to_wire(value)) for value in start.values if value is not None]
    if start.error and not start.is_ambiguous:
        raise ManifestError(f"cannot decode manifest: {start.error}")
    try:
        for number, (_, piece) in enumerate(split(_bytes(start.rest), "")):
            manifest = _read(piece, text, len(manifests), start.error if number == 0 else "")
            if manifest is not None:
                manifests.append(manifest)
            if len(manifests) > _MAX_VALUES:
                raise ManifestError(f"cannot decode manifest: more than {_MAX_VALUES} documents")
    except YamlError as error:
        raise ManifestError(f"cannot decode manifest: {error}") from None
    return manifests


def rendered_documents(text: str) -> list[tuple[int, str, Object]] | None:
    """The documents that `read_manifests` reads: first line, text and object.

    None for a text that starts with JSON, or whose documents are not a part of it as they are.
    """
    if text.lstrip().startswith("{") or "\r" in text or "\ufeff" in text:
        return None
    documents: list[tuple[int, str, Object]] = []
    for line, piece in split(_bytes(text), ""):
        manifest = _read(piece, text, len(documents), "")
        if manifest is not None:
            documents.append((line, piece.decode("utf-8", "surrogateescape"), manifest))
    return documents


def _json_start(text: str) -> JsonStart:
    if not text.lstrip().startswith("{"):
        return JsonStart([], text, "")
    return _read_json_start(text, _object_problem)


def _bytes(text: str) -> bytes:
    """The text with line ends normalized as in Kubernetes."""
    data = with_plain_lines(utf8(text))
    return data if data.endswith(b"\n") or not data else data + b"\n"


def _read(piece: bytes, text: str, before: int, problem: str) -> Object | None:
    """The object of a document, None when empty; `problem` is reported when it cannot be decoded."""
    try:
        value = _value(piece) if len(piece) > _LARGE else _known_value(piece)
    except YamlError as error:
        problem = problem or _yaml_problem(error, text, before)
        raise ManifestError(f"cannot decode manifest: {problem}") from None
    if value is None:
        return None
    object_problem = _object_problem(value)
    if object_problem:
        problem = problem or f"error unmarshaling JSON: while decoding JSON: {object_problem}"
        raise ManifestError(f"cannot decode manifest: {problem}")
    return _checked(value)


def _value(piece: bytes) -> Any:
    """The value of a document, numbers as doubles."""
    try:
        return to_wire(yaml.load(piece))
    except StructError as problem:
        raise YamlError(str(problem)) from None


_known_value = lru_cache(maxsize=2048)(_value)
"""`_value` with a cache: callers must not change the result."""


def _object_problem(value: Any) -> str:
    """The error of Kubernetes for a value that is no object with a kind; empty if it is one."""
    if value is None:
        return ""
    if not isinstance(value, dict):
        kind = _JSON_KINDS[type(value)]
        return f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
    # An invalid apiVersion hides the kind.
    if not text_in(value, "kind") or text_in(value, "apiVersion").count("/") > 1:
        return f"Object 'Kind' is missing in '{dumps(value)}'"
    return ""


def _checked(value: Object) -> Object:
    """An object whose annotations are strings."""
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
    return format_kind(version if isinstance(version, str) else "", manifest["kind"])


def _yaml_problem(error: YamlError, text: str, before: int) -> str:
    """The error of the published function, with the location in the rendered text and the line itself."""
    message = str(error)
    prefix = "error converting YAML to JSON: "
    line, _, problem = message.removeprefix("yaml: line ").partition(": ")
    lines = text.split("\n")
    if not message.startswith("yaml: line ") or not line.isdigit():
        return prefix + message
    at = _start_line(lines, before) + int(line)
    if not 0 < at <= len(lines):
        return prefix + message
    near = lines[at - 1].strip()
    near = near if len(near) <= _SHOWN else f"{near[:_SHOWN]}..."
    return f"{prefix}yaml: line {at} (document {before + 1}, line {line}) near: '{near}': {problem}"


def _start_line(lines: list[str], documents: int) -> int:
    """The line that the published function reports as the start of a document."""
    start = 1
    for _ in range(documents + 1):
        start = next((at for at in range(start + 1, len(lines) + 1) if lines[at - 1].strip() == "---"), start)
    return start


class JsonStart(NamedTuple):
    """The values that were read as JSON, the text after them, and why it is not JSON."""

    values: list[Any]
    rest: str
    error: str

    @property
    def is_ambiguous(self) -> bool:
        """Whether the rest may still be YAML."""
        return len(self.values) < 2


def _read_json_start(text: str, problem_of: Callable[[Any], str]) -> JsonStart:
    """Read a text until it ends or is not JSON; `problem_of` says what is wrong with a value, if anything."""
    import json

    decoder = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)
    values: list[Any] = []
    consumed = 0
    while len(values) <= _MAX_VALUES:
        start = _end_of(_SPACES, text, consumed)
        if start == len(text):
            return JsonStart(values, "", "")
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            error = _syntax_problem(text, start, is_ambiguous=len(values) < 2)
            break
        error = problem_of(value)
        if error:
            break
        values.append(value)
        consumed = end
    else:
        error = f"more than {_MAX_VALUES} documents"
    return JsonStart(values, text[_end_of(_SPACES_OF_A_LINE, text, consumed) :], error)


def _finite(written: str) -> float:
    """A number that Go has, too: neither NaN nor too large."""
    number = float(written)
    if not isfinite(number):
        raise ValueError(written)
    return number


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


def _syntax_problem(text: str, start: int, *, is_ambiguous: bool) -> str:
    from crossply.values.gojson_errors import first_problem
    from crossply.values.goquote import utf8

    error, read = first_problem(text[start:])
    if error == _UNEXPECTED_END:
        return "unexpected EOF"
    offset = len(utf8(text[:start])) + read
    return f"json: offset {offset}: {error}" if is_ambiguous else error
