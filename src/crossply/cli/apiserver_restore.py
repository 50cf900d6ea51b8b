"""`crossply apiserver restore`: the data of a server, made of a backup."""

from __future__ import annotations

import os

from crossply.cli.data_directory import data_flag, open_data_directory
from crossply.cli.encryption_flags import ENCRYPTION_FLAGS, codec_of
from crossply.cli.spec import Argument, Command, Invocation


def run(invocation: Invocation) -> int:
    """Make the data anew; nothing that is there is overwritten."""
    from crossply.apiserver.storage import restore

    codec = codec_of(invocation)
    if not invocation.given("data"):
        open_data_directory(invocation)
    directory = os.path.join(invocation["data"], "data")
    revision = restore(os.path.abspath(invocation["file"]), directory, codec=codec)
    invocation.stdout.write(f"restored into {directory}; it goes on from revision {revision}\n")
    return 0


COMMAND = Command(
    name="restore",
    summary="Make an API server's data of a backup.",
    description=(
        "Checks a backup and makes the data of a server of it. The directory must hold no data yet: move the "
        "old directory data away first. Clients that watched before read everything anew, because resource "
        "versions go on far above those of the backup. A backup of encrypted objects needs the keys that "
        "encrypted them; the first key encrypts what is restored."
    ),
    examples=(
        "crossply apiserver restore --data ./state monday.db",
        "crossply apiserver restore --data ./state --encryption-key-file key monday.db",
    ),
    run=run,
    arguments=(Argument("file", "The backup to read.", kind="existing-file"),),
    flags=(data_flag("The server's data directory."), *ENCRYPTION_FLAGS),
)
