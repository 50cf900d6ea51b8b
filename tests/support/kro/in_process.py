"""Evaluate cases of function-kro in this process, without confinement."""

from __future__ import annotations

from typing import Any

import orjson

from crossply.functions.builtin.kro import worker
from crossply.functions.builtin.kro.expressions import GraphError
from crossply.functions.builtin.kro.function import question_of, read_input
from crossply.functions.builtin.kro.kinds import kinds_of, schemas_json
from tests.support.kro.cases import kinds, request_of

_SCHEMAS = kinds()


def answer(case: dict[str, Any]) -> Any:
    """The response of the worker; None for a graph that is refused before."""
    request = request_of(case, _SCHEMAS)
    graph = read_input(request)
    assert request.observed.composite is not None
    composite = request.observed.composite.object
    try:
        schemas = schemas_json(request, kinds_of(composite, graph["resources"]))
    except GraphError:
        return None
    question = orjson.dumps(question_of(request, graph, composite))
    size = len(schemas).to_bytes(worker.LENGTH, "big")
    return orjson.loads(worker.load(orjson.dumps(graph))(size + schemas + question))
