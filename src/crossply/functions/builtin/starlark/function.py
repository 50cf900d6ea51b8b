"""function-starlark: run the script of the step in a sandboxed process and build the response."""

from __future__ import annotations

from typing import Any

from crossply.compose.messages import (
    SEVERITY_FATAL,
    SEVERITY_WARNING,
    TARGET_COMPOSITE,
    Request,
    Resource,
    Response,
    Result,
    State,
    fatal,
    respond,
)
from crossply.functions.builtin.dummy import merged
from crossply.functions.builtin.protojson import MessageError, read_response
from crossply.functions.builtin.sandbox.pool import ProgramError, WorkerFailed, ask
from crossply.functions.builtin.sandbox.request_json import as_json, request_data
from crossply.functions.builtin.sequencer.usages import usage
from crossply.functions.builtin.starlark.input import Input, InputError, read_input
from crossply.values import Object
from crossply.values.protobuf_struct import StructError, to_wire

_LANGUAGE = "crossply.functions.builtin.starlark.worker"


def run(request: Request) -> Response:
    try:
        step_input = read_input(request)
    except InputError as error:
        return fatal(request, f"cannot get Function input: {error}")
    try:
        return build_response(
            request, step_input, ask(_LANGUAGE, _program(step_input), as_json(request_data(request)))
        )
    except WorkerFailed as error:
        return fatal(request, f"starlark execution failed: {step_input.file}: {error}")
    except ProgramError as error:
        return fatal(request, f"starlark execution failed: {error}")
    except MessageError as error:
        return fatal(request, f"script does not give a RunFunctionResponse: {error}")
    except TypeError as error:  # of the JSON encoder: invalid Unicode or a huge integer
        return fatal(request, f"cannot run script: {error}")


def _program(step_input: Input) -> bytes:
    return as_json(
        {
            "file": step_input.file,
            "source": step_input.source,
            "modules": step_input.modules,
            "main": step_input.defines_main,
        }
    )


def build_response(request: Request, step_input: Input, reply: bytes) -> Response:
    """Build the response from the reply of the worker; raises MessageError."""
    import orjson

    try:
        reply_data: Any = to_wire(orjson.loads(reply))
    except (ValueError, StructError) as error:
        raise MessageError(str(error)) from None
    if step_input.defines_main:
        return _main_response(request, reply_data)
    if "fatal" in reply_data:
        return _fatal_response(request, reply_data["fatal"], read_response(reply_data["response"]))
    answer = merged(respond(request), read_response(reply_data["response"]))
    return _with_sequencing(
        request, step_input, reply_data, _without_resources(answer, reply_data["skipped"])
    )


def _main_response(request: Request, call_main: Any) -> Response:
    """The value of `main` is the whole response; missing parts are taken from the request."""
    if not isinstance(call_main, dict):
        raise MessageError("main must return a dict")
    response = read_response(call_main)
    before = respond(request)
    return response._replace(
        desired=before.desired if response.desired is None else response.desired,
        context=before.context if response.context is None else response.context,
        ttl=before.ttl if response.ttl is None else response.ttl,
        tag=response.tag or before.tag,
    )


def _fatal_response(request: Request, message: str, response: Response) -> Response:
    """The script called fatal(): desired resources are dropped, results and conditions are not."""
    results = (Result(SEVERITY_FATAL, message, None, TARGET_COMPOSITE), *response.results)
    return respond(
        request, results=results, conditions=response.conditions, requirements=response.requirements
    )


def _without_resources(answer: Response, names: list[str]) -> Response:
    state = answer.desired or State()
    remaining = {name: resource for name, resource in state.resources.items() if name not in names}
    return answer._replace(desired=State(state.composite, remaining))


def _with_sequencing(request: Request, step_input: Input, reply_data: Object, answer: Response) -> Response:
    """Defer resources whose dependencies are not met; desire Usages that order deletion."""
    state = answer.desired or State()
    resources = dict(state.resources)
    observed = request.observed.resources
    deferred = set()
    for dependent, needed, path in reply_data["dependencies"]:
        if dependent in observed and needed in observed:
            usage_resource = usage(
                observed[needed].object, observed[dependent].object, True, step_input.usage_version
            )
            resources[f"{dependent}-{needed}-usage"] = usage_resource
        elif dependent not in observed and not _is_met(observed.get(needed), path):
            deferred.add(dependent)
    if not deferred:
        return answer._replace(desired=State(state.composite, resources))
    names = sorted(deferred)
    for name in names:
        resources.pop(name, None)
    message = f"Creation sequencing: {len(names)} resource(s) deferred: {', '.join(names)}"
    return answer._replace(
        desired=State(state.composite, resources),
        results=(*answer.results, Result(SEVERITY_WARNING, message, None, TARGET_COMPOSITE)),
        ttl=step_input.sequencing_ttl,
    )


def _is_met(observed: Resource | None, path: str) -> bool:
    if observed is None:
        return False
    if path:
        value: Any = observed.object
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return bool(value) or isinstance(value, dict | list)
    return all(_has_condition(observed.object, kind) for kind in ("Ready", "Synced"))


def _has_condition(obj: Object, kind: str) -> bool:
    status = obj.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    return isinstance(conditions, list) and any(
        isinstance(condition, dict) and condition.get("type") == kind and condition.get("status") == "True"
        for condition in conditions
    )
