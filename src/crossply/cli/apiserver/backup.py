"""`crossply apiserver backup`: back up all objects of a running or stopped API server."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Argument, Command, Invocation
from crossply.cli.local_control_plane.data_directory import check_owner, data_flag


def run(invocation: Invocation) -> int:
    """Ask the server that has the data open; without one, open the data."""
    from crossply.apiserver.backup_client import back_up

    check_owner(invocation["data"])
    revision = back_up(invocation["data"], os.path.abspath(invocation["file"]))
    invocation.stdout.write(f"backup of revision {revision}: {invocation['file']}\n")
    return 0


COMMAND = Command(
    name="backup",
    summary="Back up an API server's objects, also while it runs.",
    description=(
        "Writes a consistent snapshot of all objects into a new file. If a server is running, it writes the "
        "snapshot and continues to serve; the command authenticates with the administrator's token in the "
        "data directory. If no server is running, the data is read directly. The file contains every Secret, "
        "encrypted if the server encrypts them, and only its owner can read it. It does not contain "
        "certificates, encryption keys and tokens: also keep the directory pki, the file admin.token and the "
        "keys."
    ),
    examples=("crossply apiserver backup --data ./state monday.db",),
    run=run,
    arguments=(Argument("file", "The file to write; it must not exist.", kind="string"),),
    flags=(data_flag("The server's data directory."),),
)
