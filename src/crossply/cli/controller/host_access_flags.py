"""What Functions may use of the machine that a control plane or a plan runs on, as flags."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Flag, Invocation, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.functions.host_access import HostAccess

HOST_ACCESS_FLAGS = (
    Flag(
        "allow-local-functions",
        "Run Functions from files below this directory, as crossply.dev/file and crossply.dev/templates name "
        "them. Whoever may create Functions can then run every Python file in it as you. Repeatable; by "
        "default no file is run.",
        kind="paths",
        placeholder="DIR",
    ),
    Flag(
        "allow-local-commands",
        "Run Functions by the command that crossply.dev/command names. Whoever may create Functions can then "
        "run every command as you. By default no command is run.",
    ),
)


def host_access(invocation: Invocation, *data: str) -> HostAccess:
    """What the flags allow, except for what is in data directories.

    Packages and images are unpacked there: a Function must not run a file that another one brought.
    """
    from crossply.containers.settings import store_directory
    from crossply.functions.host_access import HostAccess

    directories = tuple(invocation["allow-local-functions"] or ())
    for directory in directories:
        if not os.path.isdir(directory):
            raise UsageError(f"--allow-local-functions: {directory} is not a directory")
    excluded = tuple(map(os.path.abspath, (*data, store_directory(invocation.environ))))
    return HostAccess(directories, bool(invocation["allow-local-commands"]), excluded)
