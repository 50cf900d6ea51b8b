"""function-starlark: run the step's script in a confined process, and answer with what it said."""

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
from crossply.functions.builtin.sandbox.pool import Broken, ProgramError, ask
from crossply.functions.builtin.sandbox.request_json import as_json, request_data
from crossply.functions.builtin.sequencer.usages import usage
from crossply.functions.builtin.starlark.input import Input, InputError, read_input
from crossply.values import Object
from crossply.values.structs import StructError, to_wire

_LANGUAGE = "crossply.functions.builtin.starlark.worker"


def run(request: Request) -> Response:
    """Compose what the step's script says."""
    try:
        given = read_input(request)
    except InputError as error:
        return fatal(request, f"cannot get Function input: {error}")
    try:
        return answer_of(request, given, ask(_LANGUAGE, _program(given), as_json(request_data(request))))
    except Broken as error:
        return fatal(request, f"starlark execution failed: {given.file}: {error}")
    except ProgramError as error:
        return fatal(request, f"starlark execution failed: {error}")
    except MessageError as error:
        return fatal(request, f"script does not give a RunFunctionResponse: {error}")
    except TypeError as error:  # of the JSON encoder: a text that is no Unicode, an integer that is too long
        return fatal(request, f"cannot run script: {error}")


def _program(given: Input) -> bytes:
    return as_json(
        {"file": given.file, "source": given.source, "modules": given.modules, "main": given.defines_main}
    )


def answer_of(request: Request, given: Input, reply: bytes) -> Response:
    """The response; MessageError says why there is none."""
    import orjson

    try:
        said: Any = to_wire(orjson.loads(reply))
    except (ValueError, StructError) as error:
        raise MessageError(str(error)) from None
    if given.defines_main:
        return _returned(request, said)
    if "fatal" in said:
        return _ended(request, said["fatal"], read_response(said["response"]))
    answer = merged(respond(request), read_response(said["response"]))
    return _sequenced(request, given, said, _without(answer, said["skipped"]))


def _returned(request: Request, said: Any) -> Response:
    """What `main` returned is the whole response; a part that it does not mention stays as it came."""
    if not isinstance(said, dict):
        raise MessageError("main must return a dict")
    response = read_response(said)
    before = respond(request)
    return response._replace(
        desired=before.desired if response.desired is None else response.desired,
        context=before.context if response.context is None else response.context,
        ttl=before.ttl if response.ttl is None else response.ttl,
        tag=response.tag or before.tag,
    )


def _ended(request: Request, message: str, said: Response) -> Response:
    """A script that called fatal(): nothing that it desired counts, but what it told before does."""
    results = (Result(SEVERITY_FATAL, message, None, TARGET_COMPOSITE), *said.results)
    return respond(request, results=results, conditions=said.conditions, requirements=said.requirements)


def _without(answer: Response, names: list[str]) -> Response:
    state = answer.desired or State()
    kept = {name: resource for name, resource in state.resources.items() if name not in names}
    return answer._replace(desired=State(state.composite, kept))


def _sequenced(request: Request, given: Input, said: Object, answer: Response) -> Response:
    """Hold back what depends on something that is not there yet; keep the order for deletion."""
    state = answer.desired or State()
    resources = dict(state.resources)
    observed = request.observed.resources
    deferred = set()
    for dependent, needed, path in said["dependencies"]:
        if dependent in observed and needed in observed:
            made = usage(observed[needed].object, observed[dependent].object, True, given.usage_version)
            resources[f"{dependent}-{needed}-usage"] = made
        elif dependent not in observed and not _is_met(observed.get(needed), path):
            deferred.add(dependent)
    if not deferred:
        return answer._replace(desired=State(state.composite, resources))
    names = sorted(deferred)
    for name in names:
        resources.pop(name, None)
    story = f"Creation sequencing: {len(names)} resource(s) deferred: {', '.join(names)}"
    return answer._replace(
        desired=State(state.composite, resources),
        results=(*answer.results, Result(SEVERITY_WARNING, story, None, TARGET_COMPOSITE)),
        ttl=given.sequencing_ttl,
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
        isinstance(each, dict) and each.get("type") == kind and each.get("status") == "True"
        for each in conditions
    )
