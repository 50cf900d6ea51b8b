"""`crossply function serve`: serve a built-in function over gRPC."""

from __future__ import annotations

from crossply.cli.framework.command import Argument, Command, Invocation
from crossply.cli.function.server_flags import SERVING, line_logger, serving_options
from crossply.functions import builtin
from crossply.functions.failures import ServeError


def run(invocation: Invocation) -> int:
    """Serve until SIGTERM or SIGINT, then finish the running calls."""
    name = builtin.find(invocation["name"])
    if name is None:
        raise ServeError(
            f'unknown function "{invocation["name"]}"', hint=f"built in are {', '.join(builtin.PUBLISHED)}"
        )
    _serve(name, invocation)
    return 0


def _serve(name: str, invocation: Invocation) -> None:
    # Imported here: gRPC takes longer to load than most commands take to run.
    from crossply.compose.wire_codec import decode_request, encode_response
    from crossply.sdk.serving import serve

    function = builtin.load(name)
    serve(
        name,
        lambda data, _: encode_response(function(decode_request(data))),
        serving_options(invocation),
        line_logger(invocation),
    )


COMMAND = Command(
    "serve",
    "Serve a built-in composition function over gRPC.",
    run,
    arguments=(Argument("name", f"The function: {', '.join(builtin.PUBLISHED)}."),),
    flags=SERVING,
    description="The server answers v1 and v1beta1 of the function protocol, reflection and health checks.",
    examples=(
        "crossply function serve patch-and-transform --insecure --address localhost:9443",
        "crossply function serve auto-ready --tls-certs-dir /tls/server",
        "crossply function serve auto-ready --insecure --network unix --address /run/auto-ready.sock",
    ),
)
