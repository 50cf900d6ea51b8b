"""`crossply config view`: show the configuration in use."""

from __future__ import annotations

from crossply.cli.framework.command import Command, Invocation


def run(invocation: Invocation) -> int:
    """Print the configuration as YAML."""
    from crossply.values import yaml

    invocation.stdout.write(yaml.dump(dict(invocation.config)))
    return 0


COMMAND = Command(
    "view",
    "Show the configuration in use.",
    run,
    description="Without a file these are the defaults: beta commands are shown, alpha commands are not.",
    examples=("crossply config view",),
)
