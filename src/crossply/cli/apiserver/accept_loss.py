"""`crossply apiserver accept-loss`: repair a database whose acknowledged writes are lost."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Command, Invocation
from crossply.cli.local_control_plane.data_directory import data_flag, open_data_directory


def run(invocation: Invocation) -> int:
    """Change the data only if writes are missing, and after a copy was made."""
    from crossply.apiserver.storage import accept_loss

    open_data_directory(invocation)
    accepted = accept_loss(os.path.join(invocation["data"], "data"))
    if accepted is None:
        invocation.stdout.write("no acknowledged write is missing: nothing was changed\n")
        return 0
    invocation.stdout.write(
        f"writes after resource version {accepted.left} are lost; the server continues from version "
        f"{accepted.revision}\nthe files as they were: {accepted.copy}\n"
    )
    return 0


COMMAND = Command(
    name="accept-loss",
    summary="Accept the loss of acknowledged writes and make the data usable again.",
    description=(
        "For a server that does not start because acknowledged writes are missing (CP-621), when there is no "
        "backup that is newer than what is left. Copies the files first, then keeps the objects that can be "
        "read. Resource versions go on far above all earlier ones, so that they never go back: clients that "
        "watched before list everything again. Data from which no write is missing is not changed."
    ),
    examples=("crossply apiserver accept-loss --data ./state",),
    run=run,
    flags=(data_flag("The server's data directory."),),
)
