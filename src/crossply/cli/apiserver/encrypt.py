"""`crossply apiserver encrypt`: encrypt all stored objects of a stopped API server with the first key."""

from __future__ import annotations

import os

from crossply.cli.apiserver.encryption_flags import ENCRYPTION_FLAGS, codec_of, has_key, report_rewritten
from crossply.cli.framework.command import Command, Invocation, UsageError
from crossply.cli.local_control_plane.data_directory import data_flag, open_data_directory


def run(invocation: Invocation) -> int:
    """Rewrite the database, unless every value in it is as the flags say already."""
    from crossply.apiserver.storage import reencrypt

    if not has_key(invocation):
        raise UsageError(
            "no key is given: use --encryption-key-file, --encryption-key-env, --encryption-key-command or "
            "--encryption-config"
        )
    codec = codec_of(invocation)
    open_data_directory(invocation)
    done = reencrypt(os.path.join(invocation["data"], "data"), codec)
    report_rewritten(invocation, done.rewritten)
    invocation.stdout.write(
        f"{done.objects} objects are stored as configured, {done.rewritten} values were rewritten\n"
    )
    return 0


COMMAND = Command(
    name="encrypt",
    summary="Encrypt an API server's stored objects with the first key.",
    description=(
        "Rewrites the database of a stopped API server so that everything is encrypted with the first key, "
        "or in plain text where the first provider is identity. Run it after a key was added, or before one "
        "is removed. A start of the server with the same flags does the same. The database is copied into a "
        "new file that replaces it: nothing of the old one is left in it, and a command that is killed can "
        "be run again. It needs as much free space as the database has."
    ),
    examples=(
        "crossply apiserver encrypt --data ./state --encryption-key-file key",
        "crossply apiserver encrypt --data ./state --encryption-config encryption.yaml",
    ),
    run=run,
    flags=(data_flag("The server's data directory."), *ENCRYPTION_FLAGS),
)
