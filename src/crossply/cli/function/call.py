"""`crossply function call`: send a request to a function and print its response."""

from __future__ import annotations

import os
from typing import Any

from crossply.cli.framework.command import Argument, Command, Flag, Invocation, UsageError
from crossply.cli.function.message_yaml import answer_of, read_request
from crossply.cli.function.server_flags import SDK
from crossply.compose.function_messages import Request, Response


def run(invocation: Invocation) -> int:
    """Call the function once."""
    request = read_request(invocation["request"])
    targets = [name for name in ("target", "file", "builtin") if invocation[name]]
    if len(targets) > 1:
        raise UsageError(f"--{targets[0]} and --{targets[1]} cannot be used together")
    return print_answer(invocation, _answer(invocation, request))


def print_answer(invocation: Invocation, response: Response) -> int:
    """Print an answer; one with a fatal result is a failure."""
    from crossply.values.yaml import dump

    answer = answer_of(response)
    invocation.stdout.write(dump(answer))
    fatal = any(result.get("severity") == "SEVERITY_FATAL" for result in answer.get("results", ()))
    return 1 if fatal else 0


def _answer(invocation: Invocation, request: Request) -> Response:
    if invocation["file"]:
        from crossply.sdk.function_file import load
        from crossply.sdk.stdout_redirect import redirect_stdout_to_stderr

        with redirect_stdout_to_stderr():
            return load(invocation["file"], invocation["sdk"]).function.run(request)
    if invocation["builtin"]:
        return _builtin(invocation["builtin"], request)
    return _remote(invocation, request)


def _builtin(name: str, request: Request) -> Response:
    from crossply.functions import builtin
    from crossply.functions.binding import bind_builtin

    function_name = builtin.find(name)
    if function_name is None:
        raise UsageError(f'unknown function "{name}"', hint=f"built in are {', '.join(builtin.PUBLISHED)}")
    return bind_builtin(function_name, name)(request, 0)


def _remote(invocation: Invocation, request: Request) -> Response:
    from crossply.functions.binding import DEFAULT_TARGET
    from crossply.functions.remote import Remote

    target: Any = invocation["target"] or DEFAULT_TARGET
    certificates = invocation["tls-certs-dir"] or os.environ.get("TLS_CLIENT_CERTS_DIR")
    remote = Remote(target, target, certificates, wait_for_ready=False)
    try:
        return remote(request, invocation["timeout"])
    finally:
        remote.close()


COMMAND = Command(
    "call",
    "Send a request to a composition function and print its response.",
    run,
    arguments=(
        Argument("request", "A RunFunctionRequest as YAML or JSON, or just an XR; - reads it from stdin."),
    ),
    flags=(
        Flag(
            "target",
            "The address of the function: host:port, or unix:PATH. Defaults to localhost:9443.",
            short="t",
            kind="string",
            placeholder="ADDRESS",
        ),
        Flag("file", "Call the function in a Python file, in this process.", short="f", kind="string"),
        Flag("builtin", "Call a built-in function.", short="b", kind="string", placeholder="NAME"),
        SDK,
        Flag(
            "tls-certs-dir",
            "The directory with the client's ca.crt, tls.crt and tls.key. Without it the call is "
            "not encrypted.",
            kind="path",
            env="TLS_CLIENT_CERTS_DIR",
        ),
        Flag("timeout", "How long to wait for the response.", kind="duration", default="1m"),
    ),
    description=(
        "The response is printed as YAML, with the field names of the protocol's JSON. The exit code is 1\n"
        "if the response has a fatal result."
    ),
    examples=(
        "crossply function call request.yaml",
        "crossply function call xr.yaml --file main.py",
        "crossply function call request.json --target localhost:9443 --tls-certs-dir /tls/client",
    ),
)
