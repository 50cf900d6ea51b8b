"""Resource graphs as a language of confined processes. A program is an input.

A question has the schemas of all kinds, the composite resource and what is observed. The graph is built when
the schemas change, which is rare.
"""

from __future__ import annotations

import sys
from base64 import b64encode
from contextlib import suppress
from functools import cache
from typing import Any

import orjson

from crossply.functions.builtin.kro.cel.evaluator import MOST_STEPS, Evaluator, StepsExceeded
from crossply.functions.builtin.kro.cel.parser import parse
from crossply.functions.builtin.kro.cel.syntax_tree import ExpressionError
from crossply.functions.builtin.kro.cel.times import load_zones
from crossply.functions.builtin.kro.cel.values import EvaluationError
from crossply.functions.builtin.kro.expressions import GraphError
from crossply.functions.builtin.kro.graph import Graph, build_graph
from crossply.functions.builtin.kro.graph_evaluation import evaluate_graph
from crossply.functions.builtin.sandbox.worker import Answer, ProgramFailed
from crossply.values import Object
from crossply.values.api_version import format_kind
from crossply.values.deepcopy import json_copy

LENGTH = 4
"""A question begins with the length of its schemas, in so many bytes."""


_FIRST_EXPRESSIONS = (
    "1 +",
    "quantity('1').add(quantity('1m')).asApproximateFloat()",
    "quantity('x')",
    "url('https://example.org:80/a?b=c').getQuery()",
    "isURL('%')",
    "json.marshal([1.5, 'a'])",
    "json.unmarshal('[1, 2.5]')",
    "json.unmarshal('{')",
    "base64.decode('%')",
    "'a'.matches('[')",
    "'a'.findAll('a')",
    "'%.2f %e %x'.format([1.5, 2, 'a'])",
    "timestamp('2024-01-01T00:00:00Z') + duration('1h')",
    "int('x')",
    "double('1e400')",
)
"""Expressions that use all that is imported only when it is used."""


_MOST_FRAMES = 10_000
"""Enough for expressions as deep as the parser allows."""


@cache
def _warm_up() -> None:
    for text in _FIRST_EXPRESSIONS:
        with suppress(ExpressionError, EvaluationError):
            Evaluator().compile(parse(text).root)({})


def prepare(program: bytes) -> None:
    """Load what a confined process cannot load, such as the time zones that a program names."""
    _warm_up()
    sys.setrecursionlimit(_MOST_FRAMES)
    load_zones(program.decode("utf-8", "replace"))


def load(program: bytes) -> Answer:
    source = json_copy(orjson.loads(program))
    built: dict[bytes, Graph | GraphError] = {}

    def answer(question: bytes) -> bytes:
        end = LENGTH + int.from_bytes(question[:LENGTH], "big")
        schemas, request = question[LENGTH:end], json_copy(orjson.loads(question[end:]))
        if schemas not in built:
            built.clear()
            built[schemas] = _build(source, orjson.loads(schemas), request["composite"])
        return _answer(built[schemas], request)

    return answer


def _build(source: Object, schemas: dict[str, Object], composite: Object) -> Graph | GraphError:
    def schema_of(api_version: str, kind: str) -> Object:
        key = format_kind(api_version, kind)
        if key not in schemas:
            raise GraphError(f"cannot resolve {key}: schema not found")
        return schemas[key]

    key = format_kind(composite.get("apiVersion") or "", composite.get("kind") or "")
    try:
        return build_graph(source["resources"], source["status"], schema_of, schemas[key])
    except GraphError as error:
        return GraphError(f"cannot create resource graph: {error}")


def _answer(graph: Graph | GraphError, request: Object) -> bytes:
    try:
        if isinstance(graph, GraphError):
            raise graph
        reply = evaluate_graph(graph, request)
    except GraphError as error:
        reply = {"fatal": str(error)}
    except StepsExceeded:
        raise ProgramFailed(f"takes more than {MOST_STEPS:,} steps") from None
    try:
        return orjson.dumps(reply, default=_default)
    except TypeError:  # the only one that is left: JSON of more than 250 levels
        raise ProgramFailed("nests too deep") from None


def _default(value: Any) -> Any:
    """Values that JSON has in another form: bytes, and unsigned integers."""
    return b64encode(value).decode() if isinstance(value, bytes) else int(value)
