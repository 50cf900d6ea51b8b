"""`crossply version`: which Crossply this is."""

from __future__ import annotations

from crossply.cli.spec import Command, Flag, Invocation
from crossply.version import __version__


def run(invocation: Invocation) -> int:
    """Print the version of this program; asking a cluster for its own comes with the cluster commands."""
    invocation.stdout.write(f"Client Version: v{__version__}\n")
    if not invocation["client"]:
        invocation.stderr.write("crossply: the server's version is not looked up yet\n")
    return 0


COMMAND = Command(
    "version",
    "Print the versions of the client and the server.",
    run,
    flags=(Flag("client", "If true, shows client version only (no server required)."),),
    examples=("crossply version --client",),
)
