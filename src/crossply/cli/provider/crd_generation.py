"""The directory of a provider, for the commands that work on it. Its code runs in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys

from crossply.cli.framework.command import Argument
from crossply.errors import CrossplyError

DIRECTORY = Argument(
    "directory",
    "The directory of the provider. Defaults to the current directory.",
    kind="existing-dir",
    optional=True,
)


class ProviderCodeFailed(CrossplyError):
    """The code of a provider could not be loaded, so that its CRDs could not be written."""

    code = "CP-578"
    hint = "correct the provider's code; the lines above say where"


def directory_of(value: str | None) -> str:
    """The directory that an argument names, or the current one."""
    return os.path.abspath(value or os.curdir)


def write_crds(directory: str) -> list[str]:
    """Write the CRDs of a provider's classes into its directory. Returns the paths of their files."""
    from crossply.provider.package_files import CRDS

    # -P: modules of the working directory do not stand in for those of Crossply and its libraries.
    command = [sys.executable, "-P", "-m", "crossply.provider.package_files", directory]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        *context, message = done.stderr.splitlines() or ["it printed nothing"]
        place = next((line[6:] for line in context if line.startswith("  at: ")), "")
        hint = next((line[7:] for line in context if line.startswith("  try: ")), "")
        raise ProviderCodeFailed(message, place=place, hint=hint)
    folder = os.path.join(directory, CRDS)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
