"""The text of a playground as a composite resource, and what is wrong with it, line by line."""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.object_metadata import name_of, text_in
from crossply.errors import CrossplyError
from crossply.schema.cel_object_validation import RuleChecker
from crossply.schema.defaults import apply_defaults
from crossply.schema.field_errors import FieldError
from crossply.schema.prune import prune, unknown_fields
from crossply.schema.validation import validate
from crossply.ui.playground.platform import schema_at
from crossply.ui.views.short_text import cut
from crossply.values import Object
from crossply.values.field_path import PathError, parse
from crossply.values.yaml import Document, YamlError, read_documents

MAX_TEXT = 256 << 10
"""Bytes of YAML that a playground takes."""
_MAX_PROBLEMS = 20


class TextProblem(NamedTuple):
    """Something wrong, where it is, and what to try."""

    message: str
    line: int | None = None
    hint: str = ""


class TypedResource(NamedTuple):
    """What was typed: as an object, with its defaults, and its problems."""

    typed: Object
    """The object as it stands in the text; empty where that is none."""
    defaulted: Object
    problems: tuple[TextProblem, ...] = ()


def read_resource(text: str, definition: Object) -> TypedResource:
    """Read a composite resource of a definition's kind."""
    if len(text.encode("utf-8", "replace")) > MAX_TEXT:
        return _refused(f"the text is longer than {MAX_TEXT >> 10} KiB")
    try:
        documents = read_documents(text, "")
    except YamlError as problem:
        return _refused(str(problem), problem.hint)
    if not documents or not isinstance(documents[0].value, dict):
        return _refused("the text has no YAML mapping: begin with apiVersion, kind and metadata")
    document = documents[0]
    try:
        return _checked(document, schema_at(definition, text_in(document.value, "apiVersion")))
    except CrossplyError as problem:
        return TypedResource(document.value, {}, (TextProblem(cut(str(problem), 500), hint=problem.hint),))


def _refused(message: str, hint: str = "") -> TypedResource:
    return TypedResource({}, {}, (TextProblem(cut(message, 500), hint=hint),))


def _checked(document: Document, schema: Object) -> TypedResource:
    obj: Object = document.value
    if not schema:
        line = document.locate(("apiVersion",))
        problem = TextProblem(f"the definition has no version {cut(text_in(obj, 'apiVersion'), 80)}", line)
        return TypedResource(obj, {}, (problem,))
    defaulted: Object = apply_defaults(obj, schema)
    problems = [] if name_of(obj) else [TextProblem("metadata.name is required", 1)]
    problems += [_located(document, error) for error in validate(defaulted, schema)]
    problems += [_unknown(document, path) for path in unknown_fields(defaulted, schema)]
    if not problems:
        rules = RuleChecker(schema)
        problems += [_located(document, error) for error in rules.check(prune(defaulted, schema))]
    return TypedResource(obj, defaulted, tuple(problems[:_MAX_PROBLEMS]))


def _located(document: Document, error: FieldError) -> TextProblem:
    return TextProblem(cut(str(error), 500), _line(document, error.path))


def _unknown(document: Document, path: str) -> TextProblem:
    return TextProblem(
        f"unknown field {cut(path)}", _line(document, path), "the API server would drop this field"
    )


def _line(document: Document, path: str) -> int | None:
    """The line of a field, or of the nearest one above it that is there."""
    try:
        segments = parse(path)
    except PathError:
        return None
    while segments:
        line = document.locate(segments)
        if line is not None:
            return line
        segments = segments[:-1]
    return None
