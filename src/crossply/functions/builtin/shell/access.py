"""What the operator allows: commands are run only where an image is named that they run in.

The author of a Composition writes the command. It runs in a container of its own, which has nothing of this
machine, but it does run; so it is off by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

IMAGE_VARIABLE = "CROSSPLY_SHELL_IMAGE"
"""The environment variable with the image that commands run in; `--allow-shell-function` sets it."""

NETWORK_VARIABLE = "CROSSPLY_SHELL_NETWORK"
"""The environment variable that gives containers a network if it is `true`; or `--allow-shell-network`."""

SECRETS_PREFIX = "CROSSPLY_SHELL_ENV_"
"""The start of the names of environment variables that `shellEnvVarsRef` can refer to."""

REFUSAL = (
    "commands are not run here unless the operator allows it: name the image of the containers that they "
    f"run in with --allow-shell-function=IMAGE or the environment variable {IMAGE_VARIABLE}; to run the "
    "published function from its own image instead, annotate the Function with "
    "crossply.dev/runtime: container"
)


class ShellAccess(NamedTuple):
    """What commands run in."""

    image: str
    has_network: bool = False


def shell_access(environ: Mapping[str, str]) -> ShellAccess | None:
    """What the operator allows; None where no command is run."""
    image = environ.get(IMAGE_VARIABLE, "")
    return ShellAccess(image, environ.get(NETWORK_VARIABLE) == "true") if image else None
