"""Flags that several commands have: which cluster, as whom, the form of the output, function-shell."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Flag, Invocation

CONTEXT = Flag("context", "Kubernetes context.", short="c", kind="string", default="")
IMPERSONATION = (
    Flag(
        "as",
        "Username to impersonate for the operation. User could be a regular user or a service account in "
        "a namespace.",
        kind="string",
    ),
    Flag(
        "as-group",
        "Group to impersonate for the operation. Repeat to specify multiple groups.",
        kind="strings",
        placeholder="AS-GROUP",
    ),
    Flag("as-uid", "UID to impersonate for the operation.", kind="string"),
)

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


def output_flag(*choices: str) -> Flag:
    """The format of the output; the first choice is the default."""
    summary = f"Output format. One of: {', '.join(choices)}."
    return Flag("output", summary, short="o", kind="string", default=choices[0], choices=choices)


def allow_shell(invocation: Invocation) -> None:
    """Allow what the flags say, in this process and in those that it starts."""
    if invocation[_IMAGE]:
        os.environ["CROSSPLY_SHELL_IMAGE"] = invocation[_IMAGE]
        os.environ["CROSSPLY_SHELL_NETWORK"] = "true" if invocation[_NETWORK] else "false"


DEFAULT_OR_JSON = output_flag("default", "json")
