"""`crossply ui`: show a control plane in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.cli.controller.function_flags import HOST_ACCESS_FLAGS, host_access
from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.framework.common_flags import CONTEXT

if TYPE_CHECKING:
    from socket import socket

    from crossply.ui.settings import Settings


def run(invocation: Invocation) -> int:
    """Serve until interrupted."""
    import os
    import secrets
    from socket import socket

    import uvloop

    from crossply.cli.local_control_plane.data_directory import LOGS, METRICS_SOCKET, data_directory_of
    from crossply.kube.config import load_config
    from crossply.ui.listen_socket import listen
    from crossply.ui.one_time_token import KEY_BYTES
    from crossply.ui.settings import Settings

    descriptor = invocation["listen-fd"]
    listener = listen(invocation["port"]) if descriptor is None else socket(fileno=descriptor)
    listener.setblocking(False)
    # The process that started us has the other end of standard input, and sends its key there.
    key = secrets.token_bytes(KEY_BYTES) if descriptor is None else bytes.fromhex(invocation.stdin.readline())
    config = load_config(invocation["kubeconfig"], invocation["context"] or "", invocation.environ)
    kubeconfig = invocation["kubeconfig"] or invocation.environ.get("KUBECONFIG", "")
    data = data_directory_of({"KUBECONFIG": kubeconfig})
    settings = Settings(
        config,
        key,
        allow_writes=invocation["allow-writes"],
        login=invocation["login"],
        metrics_socket=invocation["metrics-socket"] or (os.path.join(data, METRICS_SOCKET) if data else ""),
        logs=os.path.join(data, LOGS) if data else "",
        host_access=host_access(invocation, *([data] if data else [])),
    )
    uvloop.run(_serve(invocation, settings, listener))
    return 0


async def _serve(invocation: Invocation, settings: Settings, listener: socket) -> None:
    from crossply.cli.apiserver.serve import stop_with_parent
    from crossply.kube.stop_signals import stop_requested
    from crossply.ui.listen_socket import address_of
    from crossply.ui.one_time_token import mint_token
    from crossply.ui.server import serve_dashboard

    stopped = stop_requested()
    if invocation["listen-fd"] is not None:
        stop_with_parent(stopped)
    address = address_of(listener, "" if settings.login else mint_token(settings.key))
    async with serve_dashboard(settings, listener):
        invocation.stdout.write(f"dashboard: {address}\n")
        invocation.stdout.flush()
        if not (invocation["no-open"] or settings.login):
            _open_browser(address)
        await stopped.wait()


def _open_browser(address: str) -> None:
    """Open the address where there is a browser with a window; whether that works is no concern of ours."""
    import os
    import sys
    import webbrowser

    has_windows = (
        sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if has_windows and sys.stdout.isatty():
        webbrowser.open(address)


COMMAND = Command(
    name="ui",
    summary="Show a control plane in the browser.",
    description=(
        "Serves a dashboard on loopback: what needs attention and why, the tree of each composite resource, "
        "pipeline runs, Compositions, definitions, packages and Operations. It acts with the rights of the "
        "kubeconfig. The printed address opens it once, in one browser. Ctrl-C stops it."
    ),
    examples=(
        "crossply ui",
        "crossply ui --context production",
        "crossply ui --kubeconfig ./state/kubeconfig --port 8610 --no-open",
        "crossply ui --allow-writes",
    ),
    run=run,
    flags=(
        Flag(
            "kubeconfig",
            "The kubeconfig file. By default that of KUBECONFIG, of the pod, or ~/.kube/config.",
            kind="existing-file",
            placeholder="PATH",
        ),
        CONTEXT,
        Flag("port", "The port on loopback. 0 selects a free port.", kind="int", default="0"),
        Flag(
            "allow-writes",
            "Allow pausing, reconciling and deleting, with the rights of the viewer. Without it, the "
            "dashboard only reads.",
        ),
        Flag(
            "login",
            "Have each viewer log in with a bearer token, and act with the rights of that token only. The "
            "credentials of the kubeconfig are not used.",
        ),
        Flag(
            "listen-fd", "Serve on this socket, and stop when standard input ends.", kind="int", hidden=True
        ),
        Flag("metrics-socket", "Where the control plane's metrics are.", kind="string", hidden=True),
        Flag("no-open", "Do not open the browser."),
        *HOST_ACCESS_FLAGS,
    ),
)
