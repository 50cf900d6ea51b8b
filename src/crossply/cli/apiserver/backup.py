"""`crossply apiserver backup`: back up all objects of a running or stopped API server."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Argument, Command, Invocation
from crossply.cli.up.data_directory import check_owner, data_flag


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
        "Writes all objects, as they are at one moment, into a new file. A server that runs is asked for it "
        "with the administrator's token in the data directory, and goes on serving; if none runs, the data "
        "is read directly. The file holds every Secret, encrypted if the server encrypts them, and is "
        "readable by its owner only. Certificates, encryption keys and tokens are not in it: keep the "
        "directory pki, the file admin.token and the keys too."
    ),
    examples=("crossply apiserver backup --data ./state monday.db",),
    run=run,
    arguments=(Argument("file", "The file to write; it must not exist.", kind="string"),),
    flags=(data_flag("The server's data directory."),),
)
