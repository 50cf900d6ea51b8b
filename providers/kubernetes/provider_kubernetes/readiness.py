"""Whether an object is ready, by the policy of the Object that manages it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from crossply.schema.cel_program import data_size, largest_data
from crossply.values import Object

from .object_spec import Readiness


def readiness(policy: Readiness, live: Object, is_created: bool) -> bool | str:
    """True, False, or why it cannot be told. What was ready stays so while a change of it is applied."""
    match policy.policy:
        case "DeriveFromObject":
            return _status_of(live, "Ready") == "True"
        case "AllTrue":
            conditions = _conditions(live)
            return bool(conditions) and all(condition.get("status") == "True" for condition in conditions)
        case "DeriveFromCelQuery":
            return _by_query(policy.cel_query, live)
    return is_created


def _conditions(live: Object) -> list[Object]:
    conditions = (live.get("status") or {}).get("conditions")
    return (
        [condition for condition in conditions if isinstance(condition, dict)]
        if isinstance(conditions, list)
        else []
    )


def _status_of(live: Object, kind: str) -> str:
    return next((str(entry.get("status")) for entry in _conditions(live) if entry.get("type") == kind), "")


def _by_query(query: str, live: Object) -> bool | str:
    if not query:
        return "cel query cannot be empty"
    program, problem = _compiled(query)
    if problem:
        return f"failed to compile query: {problem}"
    largest = largest_data(program)
    if data_size(live, largest) > largest:
        return "failed to eval the program: it costs too much for an object of this size"
    try:
        result = program.eval(data={"object": live})
    except RuntimeError as error:
        return f"failed to eval the program: {error}"
    if str(result.type()) == "ERROR":
        return f"failed to eval the program: {result.value()}"
    value = result.plain_value()
    return value if isinstance(value, bool) else "celQuery does not return a bool type"


@lru_cache(maxsize=512)
def _compiled(query: str) -> tuple[Any, str]:
    try:
        return _environment().compile(query), ""
    except RuntimeError as error:
        return None, str(error)


@lru_cache(maxsize=1)
def _environment() -> Any:
    from cel_expr_python import cel

    return cel.NewEnv(variables={"object": cel.Type.DYN})
