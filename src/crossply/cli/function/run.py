"""`crossply function run`: serve the function in a Python file."""

from __future__ import annotations

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.function.server_flags import SDK, SERVING, line_logger, serving_options


def run(invocation: Invocation) -> int:
    """Serve until SIGTERM or SIGINT, then finish the running calls."""
    # Imported here: gRPC takes longer to load than most commands take to run.
    from crossply.sdk.auto_reload import ReloadingFunction
    from crossply.sdk.function_file import Served, load
    from crossply.sdk.serving import serve

    place, sdk, log = invocation["file"], invocation["sdk"], line_logger(invocation)
    function: Served = (
        ReloadingFunction(place, sdk, log) if invocation["reload"] else load(place, sdk).function
    )
    if invocation["debug"]:
        function.log = log
    serve(function.name, function.answer, serving_options(invocation), log)
    return 0


COMMAND = Command(
    "run",
    "Serve the composition function in a Python file.",
    run,
    arguments=(Argument("file", "The file, or FILE:NAME if it contains several functions."),),
    flags=(
        Flag("reload", "Load the function again when one of its files changes.", short="r"),
        SDK,
        *SERVING,
    ),
    description=(
        "The function is one that is decorated with crossply.sdk's @function, or a class that was written\n"
        "for the published Python SDK, crossplane.function. The server supports v1 and v1beta1 of the\n"
        "function protocol, reflection and health checks."
    ),
    examples=(
        "crossply function run main.py --insecure --reload",
        "crossply function run main.py:compose --tls-certs-dir /tls/server",
        "crossply function run function/fn.py --sdk crossply --insecure --address localhost:9443",
    ),
)
