"""The flags that allow function-shell to run commands.

They are handed on by environment variables: what runs the function may be a process of its own.
"""

from __future__ import annotations

import os

from crossply.cli.framework.command import Flag, Invocation

_IMAGE = "allow-shell-function"
_NETWORK = "allow-shell-network"

SHELL_FLAGS = (
    Flag(
        _IMAGE,
        "Let function-shell run the commands of Compositions, each in a new container of this image, without "
        "a network. Users who may write Compositions can then run every command there. By default no command "
        "is run.",
        kind="string",
        placeholder="IMAGE",
        env="CROSSPLY_SHELL_IMAGE",
    ),
    Flag(
        _NETWORK,
        "Connect these containers to the network, with pasta: commands can then reach everything that this "
        "machine can reach, except its loopback.",
        env="CROSSPLY_SHELL_NETWORK",
    ),
)


def allow_shell(invocation: Invocation) -> None:
    """Allow what the flags say, in this process and in those that it starts."""
    if invocation[_IMAGE]:
        os.environ["CROSSPLY_SHELL_IMAGE"] = invocation[_IMAGE]
        os.environ["CROSSPLY_SHELL_NETWORK"] = "true" if invocation[_NETWORK] else "false"
