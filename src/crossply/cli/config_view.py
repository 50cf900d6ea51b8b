"""`crossply config view`: show the configuration in use."""

from __future__ import annotations

from crossply.cli.config import FEATURES, VERSION
from crossply.cli.spec import Command, Invocation


def run(invocation: Invocation) -> int:
    """Print the configuration with the defaults of what the file leaves out."""
    from crossply.values import yaml

    chosen = invocation.config.get("features") or {}
    features = {name: bool(chosen.get(name, False)) for name in FEATURES}
    invocation.stdout.write(yaml.dump({"version": VERSION, "features": features}))
    return 0


COMMAND = Command("view", "Show the configuration in use.", run, examples=("crossply config view",))
