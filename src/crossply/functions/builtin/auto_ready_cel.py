"""auto-ready with health checks that the platform team writes in CEL.

The published function has them behind the feature gate `CELHealthcheckCustomizations`, which is off by
default; so `auto_ready.run` does without and this is the function with the gate on. The checks come from
the pipeline's context, keyed `<group>_<version>_<kind>`; they are asked first, and their answer is final.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from crossply.compose.messages import (
    READY_FALSE,
    READY_TRUE,
    READY_UNSPECIFIED,
    Request,
    Resource,
    Response,
    State,
    fatal,
    respond,
)
from crossply.functions.builtin.auto_ready import with_readiness
from crossply.functions.builtin.auto_ready_input import InputError, read_input, time_to_live
from crossply.schema.cel_program import Program
from crossply.values import Object

_NO_SOURCE = "input with celHealthCheckCustomizationFrom is required when using CELHealthcheckCustomizations"
_LONGEST_EXPRESSION = 100_000


def run(request: Request) -> Response:
    """Mark desired resources by the checks in the context first, then as auto-ready does."""
    try:
        given = read_input(request)
        ttl = time_to_live(given)
    except InputError as error:
        return fatal(request, f"invalid input: {error}")
    source = given.get("celHealthCheckCustomizationFrom")
    if source is None:
        return fatal(request, _NO_SOURCE)
    decided = with_verdicts(request.desired, request.observed, expressions(request.context or {}, source))
    return respond(request, desired=with_readiness(decided, request.observed), ttl=ttl)


def expressions(context: Object, source: str) -> dict[str, str]:
    """The checks found in the context under `source`, which is written `[a.b/c].d` or `a.d`."""
    names = _names(source)
    value: Any = context if names else None
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    if not isinstance(value, dict):
        return {}
    return {key: check for key, check in value.items() if isinstance(check, str)}


def with_verdicts(desired: State, observed: State, checks: dict[str, str]) -> State:
    """The desired state with the verdict of each check on the undecided resources of its kind."""
    verdicts = {}
    for name, resource in desired.resources.items():
        existing = observed.resources.get(name)
        if existing is None or resource.ready != READY_UNSPECIFIED:
            continue
        check = checks.get(check_name(existing.object))
        ready = READY_UNSPECIFIED if check is None else verdict(check, existing.object)
        verdicts[name] = Resource(resource.object, resource.connection_details, ready, resource.snapshot)
    return State(desired.composite, {**desired.resources, **verdicts})


def check_name(observed: Object) -> str:
    """The key of an object's check: `<group>_<version>_<kind>`, the core group being empty."""
    api_version, kind = observed.get("apiVersion"), observed.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return ""
    group, _, version = api_version.rpartition("/")
    return f"{group}_{version}_{kind}"


def verdict(expression: str, observed: Object) -> int:
    """What a check says of an object; a check that is not a condition, or that fails, says nothing."""
    program = _compiled(expression)
    if program is None:
        return READY_UNSPECIFIED
    answer, _ = program.evaluate({"object": observed})
    if not isinstance(answer, bool):
        return READY_UNSPECIFIED
    return READY_TRUE if answer else READY_FALSE


@lru_cache(maxsize=256)
def _compiled(expression: str) -> Program | None:
    """The program of an expression that is known to give a boolean; None for any other."""
    if len(expression) > _LONGEST_EXPRESSION:
        return None
    from cel_expr_python import cel

    environment = cel.NewEnv(variables={"object": cel.Type.DYN})
    try:
        program = environment.compile(expression)
    except (RuntimeError, ValueError):  # the library's errors for text that is not an expression
        return None
    return Program(program, expression) if program.return_type() == cel.Type.BOOL else None


def _names(source: str) -> list[str]:
    """The names in a reference: what brackets enclose, and what dots separate."""
    import re

    return [bracketed or plain for bracketed, plain in re.findall(r"\[([^\[\]]+)\]|([^.\[\]]+)", source)]
