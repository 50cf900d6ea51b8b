"""`crossply apiserver restore`: restore an API server from a backup."""

from __future__ import annotations

import os

from crossply.cli.apiserver.encryption_flags import ENCRYPTION_FLAGS, codec_of
from crossply.cli.framework.command import Argument, Command, Invocation
from crossply.cli.local_control_plane.data_directory import data_flag, open_data_directory


def run(invocation: Invocation) -> int:
    from crossply.apiserver.storage import restore
    from crossply.apiserver.storage.data_directory import DirectoryLock

    codec = codec_of(invocation)
    open_data_directory(invocation)
    directory = os.path.join(invocation["data"], "data")
    # A server keeps the files that were moved away open: no other may serve from this directory now.
    lock = DirectoryLock(invocation["data"])
    try:
        revision = restore(os.path.abspath(invocation["file"]), directory, codec=codec)
    finally:
        lock.release()
    invocation.stdout.write(f"restored into {directory}; it continues from revision {revision}\n")
    return 0


COMMAND = Command(
    name="restore",
    summary="Restore an API server from a backup.",
    description=(
        "Checks a backup and creates the data of a server from it. Stop the server first. The data directory "
        "must not contain data: first rename its directory data. Resource versions continue far above those "
        "of the backup, so clients that watched before list everything again. A backup of encrypted objects "
        "needs the keys that encrypted them; the first key encrypts the restored objects."
    ),
    examples=(
        "crossply apiserver restore --data ./state monday.db",
        "crossply apiserver restore --data ./state --encryption-key-file key monday.db",
    ),
    run=run,
    arguments=(Argument("file", "The backup to read.", kind="existing-file"),),
    flags=(data_flag("The server's data directory."), *ENCRYPTION_FLAGS),
)
