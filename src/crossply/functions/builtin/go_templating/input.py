"""The input of go-templating: `gotemplating.fn.crossplane.io/v1beta1`."""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.function_messages import SECOND, Request
from crossply.functions.builtin.input_decoder import OBJECT, InputError, array, decode, struct, text
from crossply.values import Object
from crossply.values.durations import parse_duration

__all__ = ["Input", "InputError", "read_input"]

TTL_ANNOTATION = "gotemplating.fn.crossplane.io/ttl"
DEFAULT_TTL = 60 * SECOND


_GO_TYPE = "v1beta1.GoTemplate"
_INPUT = struct(
    _GO_TYPE,
    {
        **OBJECT,
        "delims": struct("v1beta1.Delims", {"left": text(), "right": text()}),
        "source": text("v1beta1.TemplateSource"),
        "inline": struct(
            "v1beta1.TemplateSourceInline",
            {"template": text(), "templates": array("[]string", text(), "")},
        ),
        "fileSystem": struct("v1beta1.TemplateSourceFileSystem", {"dirPath": text()}),
        "environment": struct("v1beta1.TemplateSourceEnvironment", {"key": text()}),
        "ttl": text(),
        "options": array("[]string", text(), ""),
    },
)


class Input(NamedTuple):
    """The decoded input of a step."""

    fields: Object
    delimiters: tuple[str, str]
    options: tuple[str, ...]
    ttl: int


def read_input(request: Request) -> Input:
    fields = decode(request, _INPUT, _GO_TYPE)
    delimiters = fields.get("delims", {})
    pair = (delimiters["left"], delimiters["right"]) if len(delimiters) == 2 else ("", "")
    ttl = _duration(fields.get("ttl", ""))
    return Input(fields, pair, tuple(fields.get("options", ())), DEFAULT_TTL if ttl is None else ttl)


def ttl_of_composite(request: Request, otherwise: int) -> int:
    """How long the response may be cached. An annotation of the XR overrides the input; an invalid one is 0.

    As in Kubernetes, a null annotation is an empty string, and one of another type hides all annotations.
    """
    composite = request.observed.composite
    metadata = composite.object.get("metadata") if composite is not None else None
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not isinstance(annotations, dict) or TTL_ANNOTATION not in annotations:
        return otherwise
    if not all(value is None or isinstance(value, str) for value in annotations.values()):
        return otherwise
    return _duration(annotations[TTL_ANNOTATION] or "") or 0


def _duration(written: str) -> int | None:
    try:
        return parse_duration(written)
    except ValueError:
        return None
