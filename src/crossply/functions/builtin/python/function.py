"""function-python as published, except that the script runs in a sandboxed process."""

from __future__ import annotations

from crossply.compose.function_messages import Request, Response, fatal
from crossply.compose.wire_codec import WireError, decode_response, encode_request
from crossply.functions.builtin.sandbox.pool import ProgramError, WorkerFailed, ask

_LANGUAGE = "crossply.functions.builtin.python.worker"


def run(request: Request) -> Response:
    # Other fields of the input are for the script.
    script = (request.input or {}).get("script")
    if not isinstance(script, str) or not script:
        return fatal(request, "missing script")
    try:
        reply = ask(_LANGUAGE, script.encode(), encode_request(request))
        return decode_response(reply)
    except WorkerFailed as error:
        return fatal(request, f"cannot run script: script: {error}")
    except ProgramError as error:
        return fatal(request, f"cannot run script: {error}")
    except (WireError, UnicodeEncodeError) as error:
        return fatal(request, f"cannot run script: {error}")
