"""function-starlark: run the step's script in a confined process, and answer with what it said."""

from __future__ import annotations

from crossply.compose.messages import Request, Response, fatal
from crossply.functions.builtin.confined.pool import Broken, ProgramError, ask
from crossply.functions.builtin.confined.questions import as_json, request_data
from crossply.functions.builtin.protojson import MessageError
from crossply.functions.builtin.starlark.answer import answer_of
from crossply.functions.builtin.starlark.input import Input, InputError, read_input

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
