"""What `crossply up` offers of the dashboard: its flags, and an address that opens it once."""

from __future__ import annotations

from crossply.cli.framework.command import Flag
from crossply.cli.local_control_plane.data_directory import read_saved

FILE = "dashboard"
"""The file of the data directory with the port and the key that signs one-time tokens."""
LOOPBACK = "127.0.0.1"

DASHBOARD_FLAGS = (
    Flag("no-ui", "Do not offer the dashboard."),
    Flag(
        "ui-port",
        "The port of the dashboard on loopback. By default the port of the last start is used again if it is "
        "free.",
        kind="int",
        default=0,
        placeholder="0",
    ),
    Flag("ui-allow-writes", "Allow the dashboard to pause, reconcile and delete resources."),
)


def offered_address(data: str) -> str:
    """An address that opens the dashboard once; empty where none is offered."""
    port, key = saved_dashboard(data)
    if not key:
        return ""
    from crossply.ui.one_time_token import mint_token

    return f"http://{LOOPBACK}:{port}/login?token={mint_token(key)}"


def saved_dashboard(data: str) -> tuple[int, bytes]:
    """The port and the key of the last start; 0 and empty where there was none."""
    port, _, key = read_saved(data, FILE).partition(" ")
    try:
        return int(port or 0), bytes.fromhex(key)
    except ValueError:
        return 0, b""
