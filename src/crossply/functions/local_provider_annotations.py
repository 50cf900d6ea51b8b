"""Providers that run as a program of this machine: what their annotations say, for their author.

`crossply.dev/directory` names the directory of a provider, whose files are the package.
`crossply.dev/command` is the command that runs it, in that directory; without one, it is a provider written
with `crossply.provider`.
"""

from __future__ import annotations

import os
import shlex
import sys

from crossply.functions.binding import COMMAND, HostUse
from crossply.functions.failures import RuntimeAnnotationError
from crossply.values import Object

DIRECTORY = "crossply.dev/directory"
PROVIDER_KINDS = ("Provider", "ProviderRevision")


def is_local_provider(obj: Object) -> bool:
    """Whether a Provider, or a revision of one, runs as a program of this machine."""
    return obj.get("kind") in PROVIDER_KINDS and any(_annotation(obj, key) for key in (DIRECTORY, COMMAND))


def provider_directory(obj: Object) -> str:
    """The directory whose files are the package of a Provider; empty where it has an image."""
    directory = _annotation(obj, DIRECTORY) if obj.get("kind") in PROVIDER_KINDS else ""
    return os.path.abspath(directory) if directory else ""


def provider_command(obj: Object) -> list[str]:
    """The words of the command that runs a local Provider."""
    command = _annotation(obj, COMMAND)
    if not command:
        # -P: modules of the working directory do not stand in for those of Crossply and its libraries.
        return [sys.executable, "-P", "-m", "crossply.provider", provider_directory(obj)]
    try:
        words = shlex.split(command)
    except ValueError as problem:
        words, reason = [], str(problem).lower()
    else:
        reason = "it is empty"
    if not words:
        raise RuntimeAnnotationError(
            f'cannot understand annotation "{COMMAND}": {reason}', hint="write it as in a shell"
        )
    return words


def provider_host_uses(provider: Object) -> list[HostUse]:
    """What a Provider would run or read of the machine that we run on."""
    if _annotation(provider, COMMAND):
        return [HostUse(COMMAND, "a command", None)]
    directory = provider_directory(provider)
    return [HostUse(DIRECTORY, "the directory of a provider", directory)] if directory else []


def _annotation(obj: Object, key: str) -> str:
    value = ((obj.get("metadata") or {}).get("annotations") or {}).get(key, "")
    return value if isinstance(value, str) else ""
