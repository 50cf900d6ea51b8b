"""Field paths of rules and selectable fields, resolved in a schema: `.spec.size`, `.labels['a/b']`."""

from __future__ import annotations

import re

from crossply.values import Object

_TOKENS = re.compile(r"'(?:[^'\\]|\\.)*'|[.\[\]]|'?[^.\[\]]+")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'"}


class BadPath(Exception):
    """A path that leads to no field."""


def find_field(path: str, schema: Object, *, brackets: bool = True) -> tuple[tuple[str, ...], Object]:
    """The steps of a path and the schema that it leads to; raises BadPath with kube-apiserver's sentence."""
    steps: list[str] = []
    tokens = iter(_TOKENS.findall(path))
    for token in tokens:
        if token == "[":
            if not brackets:
                raise BadPath("array notation is not allowed")
            name = _quoted(_next(tokens))
            schema = _below(schema, name)
            closing = _next(tokens)
            if closing != "]":
                raise BadPath(f"expected ] but got {closing}")
        elif token == ".":
            name = _next(tokens)
            schema = _below(schema, name)
        else:
            raise BadPath(f"expected [ or . but got: {token}")
        steps.append(name)
    return tuple(steps), schema


def _next(tokens: object) -> str:
    try:
        return str(next(tokens))  # type: ignore[call-overload]
    except StopIteration:
        raise BadPath("unexpected end of JSON path") from None


def _quoted(token: str) -> str:
    if len(token) < 2 or token[0] != "'" or token[-1] != "'":
        raise BadPath(f"expected single quoted string but got {token}")
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), token[1:-1])


def _below(schema: Object, name: str) -> Object:
    properties = schema.get("properties")
    if properties:
        if name not in properties:
            raise BadPath("does not refer to a valid field")
        member: Object = properties[name]
        return member
    others = schema.get("additionalProperties")
    if others is None or others is False:
        raise BadPath("does not refer to a valid field")
    return others if isinstance(others, dict) else {}
