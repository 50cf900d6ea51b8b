"""function-pythonic: run the composite class of the step in a sandboxed process and build the response."""

from __future__ import annotations

import os
from typing import Any

from crossply.compose.function_messages import Request, Response, State, fatal
from crossply.functions.builtin.protojson import MessageError, read_response
from crossply.functions.builtin.pythonic.program_files import FilesError, program_files
from crossply.functions.builtin.sandbox.pool import ProgramError, WorkerFailed, ask
from crossply.functions.builtin.sandbox.request_json import as_json, request_data
from crossply.values import Object
from crossply.values.protobuf_struct import StructError, to_wire

_LANGUAGE = "crossply.functions.builtin.pythonic.worker"


class _InputError(Exception):
    """The input names no composite. It never leaves the function: it becomes a fatal result."""


def run(request: Request) -> Response:
    try:
        reply = ask(_LANGUAGE, _program(request), as_json(_question(request)))
        return _response(request, reply)
    except WorkerFailed as error:
        return fatal(request, f"composite {error}")
    except (ProgramError, _InputError, FilesError) as error:
        return fatal(request, str(error))
    except MessageError as error:
        return fatal(request, f"composite does not give a RunFunctionResponse: {error}")
    except TypeError as error:  # of the JSON encoder: invalid Unicode or a huge integer
        return fatal(request, f"cannot run composite: {error}")


def _program(request: Request) -> bytes:
    step_input = request.input or {}
    composite = _composite(request, step_input)
    files = program_files(composite, step_input.get("packages"), os.environ)
    return as_json({"composite": composite, "files": files})


def _composite(request: Request, step_input: Object) -> str:
    """The text of the program: in the input, or in the field of the composite resource that it names."""
    observed = request.observed.composite
    if observed is None or not observed.object:
        return _text(step_input, "composite", 'Missing operation input "composite"')
    inlined = step_input.get("inlined")
    if inlined:
        return _text(observed.object.get("spec"), inlined, f"Missing inlined spec.{inlined}")
    return _text(step_input, "composite", 'Missing composition input "composite"')


def _text(fields: Any, name: Any, problem: str) -> str:
    text = fields.get(name) if isinstance(fields, dict) and isinstance(name, str) else None
    if not isinstance(text, str):
        raise _InputError(problem)
    return text


def _question(request: Request) -> Object:
    data = {**request_data(request), "input": request.input or {}}
    for name, state in (("observed", request.observed), ("desired", request.desired)):
        if state.composite is None:
            del data[name]["composite"]
    return data


def _response(request: Request, reply: bytes) -> Response:
    """Build the response from the reply of the worker (see `worker`), which is not trusted."""
    import orjson

    try:
        data = to_wire(orjson.loads(reply))
        response = read_response(data["response"])
        unchanged = [(name, request.desired.resources[name]) for name in data["unchanged"]]
    except (ValueError, KeyError, TypeError, StructError) as error:
        raise MessageError(str(error)) from None
    desired = response.desired or State()
    resources = {**dict(unchanged), **desired.resources}
    return response._replace(desired=State(desired.composite, resources), tag=request)
