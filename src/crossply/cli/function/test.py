"""`crossply function test`: start a function from its package, call it once, and stop it."""

from __future__ import annotations

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.function.call import print_answer
from crossply.cli.function.message_yaml import read_request
from crossply.functions.binding import CHOICES


def run(invocation: Invocation) -> int:
    """Call the function once."""
    from crossply.functions.binding import bind

    package = invocation["package"]
    function = {"metadata": {"name": package}, "spec": {"package": package}}
    request = read_request(invocation["request"])
    runner = bind(function, invocation["function-runtime"])
    try:
        response = runner(request, invocation["timeout"])
    finally:
        runner.close()
    return print_answer(invocation, response)


COMMAND = Command(
    "test",
    "Start a composition function from its package, call it, and stop it.",
    run,
    arguments=(
        Argument("package", "The package of the function."),
        Argument("request", "A RunFunctionRequest as YAML or JSON, or just an XR; - reads it from stdin."),
    ),
    flags=(
        Flag(
            "function-runtime",
            "How to run the function. A built-in one runs in this process by default.",
            kind="string",
            choices=CHOICES,
        ),
        Flag("timeout", "How long to wait for the response.", kind="duration", default="1m"),
    ),
    description=(
        "The response is printed as YAML, with the field names of the protocol's JSON. The exit code is 1\n"
        "if the response has a fatal result."
    ),
    examples=("crossply function test registry.example.org/team/function-x:v1.0.0 request.json",),
)
