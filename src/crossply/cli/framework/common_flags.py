"""Flags that several commands have: which cluster, as whom, and the form of the output."""

from __future__ import annotations

from crossply.cli.framework.command import Flag

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


def output_flag(*choices: str) -> Flag:
    """The format of the output; the first choice is the default."""
    summary = f"Output format. One of: {', '.join(choices)}."
    return Flag("output", summary, short="o", kind="string", default=choices[0], choices=choices)


DEFAULT_OR_JSON = output_flag("default", "json")
