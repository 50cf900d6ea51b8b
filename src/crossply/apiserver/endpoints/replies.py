"""Replies: encoded responses, and how objects become them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import orjson

from crossply.apiserver.endpoints.body_decoding import JSON, PROTOBUF
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import Form
from crossply.apiserver.event_loop_offloading import PROTOBUF_FACTOR, YAML_FACTOR, Background, encoded_weight
from crossply.apiserver.stored_object_codec import INDENTED, SORTED, to_json
from crossply.values import Object

JSON_TYPE = JSON
_MOST_WARNINGS = 64
_MOST_WARNED = 4096
_LONGEST_CUT_WARNING = 256
FACTORS = {JSON: 1, PROTOBUF: PROTOBUF_FACTOR}
"""How many times as long as JSON a form takes to encode; the others are forms of YAML."""
_LARGEST_INDENTED = 1 << 20


@dataclass(slots=True)
class Reply:
    """An encoded response."""

    status: int
    body: bytes
    content_type: str = JSON_TYPE
    headers: dict[str, str] = field(default_factory=dict)


def encoded(value: Object, form: Form) -> tuple[bytes, str]:
    """A value encoded in the negotiated form, and its content type."""
    if form.media == JSON:
        # Sorted as it is stored: clients compare the bytes of managedFields with those of a later watch.
        return to_json(value, SORTED) + b"\n", JSON_TYPE
    if form.media == PROTOBUF:
        from crossply.apiserver.protobuf import encode_object

        return encode_object(value), PROTOBUF
    from crossply.values.yaml import dump

    return dump(value).encode(), form.media


def encoded_event(kind: str, value: Object, form: Form) -> bytes:
    """A watch event encoded in the negotiated form: a line, or a protobuf frame."""
    if form.media != PROTOBUF:
        return to_json({"type": kind, "object": value}) + b"\n"
    from crossply.apiserver.protobuf import encode_event

    return encode_event(kind, value)


def reply(status: int, value: Object, form: Form) -> Reply:
    body, content_type = encoded(value, form)
    return Reply(status, body, content_type)


async def reply_value(background: Background, status: int, value: Object, form: Form) -> Reply:
    """A reply with a value of any size; large ones are encoded in the background."""
    return await background.run(_weight(value, form), lambda: reply(status, value, form))


def _weight(value: Object, form: Form) -> int:
    """The weight of encoding a value. JSON has none: a thread would block the others as long."""
    return 0 if form.media == JSON else encoded_weight(value, FACTORS.get(form.media, YAML_FACTOR))


def indented(answer: Reply) -> Reply:
    """The reply with indented JSON; a very large one stays as it is."""
    if answer.content_type != JSON_TYPE or len(answer.body) > _LARGEST_INDENTED:
        return answer
    body = to_json(orjson.loads(answer.body), INDENTED)
    return Reply(answer.status, body + b"\n", answer.content_type, answer.headers)


async def reply_object(background: Background, call: Call, status: int, obj: Object, form: Form) -> Reply:
    """A reply with one object, in the negotiated shape."""
    if form.is_plain:
        return reply(status, obj, form)
    weight = encoded_weight(obj, FACTORS.get(form.media, YAML_FACTOR))
    return await background.run(weight, lambda: reply(status, shaped(call, obj, form), form))


def shaped(call: Call, obj: Object, form: Form) -> Object:
    """One object as it is, as a table of one row, or as its metadata."""
    if form.shape == "object" or obj.get("kind") == "Status":
        return obj
    if form.shape == "partial":
        return partial(obj, form.meta_version)
    from crossply.apiserver.tables.table import to_table

    return to_table(call.resource, call.version, [obj], call.query.get("includeObject", ""), obj["metadata"])


def partial(obj: Object, version: str) -> Object:
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": obj.get("metadata", {}),
    }


def warning_headers(warnings: Sequence[str]) -> list[str]:
    """Warnings as Warning headers; a client shows each once.

    As in Kubernetes, warnings of more than 4096 characters together are cut to 256 each, and the rest is left
    out. There are at most 64, because clients refuse too many or too long headers.
    """
    if not warnings:
        return []
    texts = list(dict.fromkeys(filter(None, warnings)))[:_MOST_WARNINGS]
    if sum(map(len, texts)) > _MOST_WARNED:
        texts = _cut_warnings(texts)
    return [f'299 - "{_quoted(text)}"' for text in texts]


def _cut_warnings(texts: list[str]) -> list[str]:
    shown: list[str] = []
    length = 0
    for text in texts:
        if length >= _MOST_WARNED:
            break
        shown.append(text[:_LONGEST_CUT_WARNING])
        length += len(shown[-1])
    return shown


def _quoted(text: str) -> str:
    clean = "".join(char if char.isprintable() else "" for char in text)
    return clean.replace("\\", "\\\\").replace('"', '\\"')
