"""What Functions and Providers may use of the control plane's machine: nothing unless its operator allows it.

Annotations of a Function can name a command, a Python file, templates, certificates or a socket of that
machine, those of a Provider a command or a directory. Whoever may create them would thereby run code and read
files with the rights of the control plane. `render` and `test` do not ask here: they run on files that their
user names.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from crossply.functions.binding import HostUse, host_uses
from crossply.functions.failures import FunctionNotBound
from crossply.functions.local_provider_annotations import PROVIDER_KINDS, provider_host_uses
from crossply.values import Object

_ELSEWHERE = "install the function as a package, or serve it and name its address"
_PROVIDER_ELSEWHERE = "install the provider as a package"


class HostAccessRefused(FunctionNotBound):
    """A Function or Provider uses files or commands of the control plane's machine without permission."""

    code = "CP-329"
    hint = (
        "install the function as a package, or serve it and name its address; crossply up and crossply plan "
        "have --allow-local-functions=DIR and --allow-local-commands"
    )


Check = Callable[[Object], None]
"""Raises HostAccessRefused for a Function or Provider that may not be run."""


class HostAccess(NamedTuple):
    """What an operator allows."""

    directories: tuple[str, ...] = ()
    """Functions may use files and directories below these."""
    commands: bool = False
    """Whether Functions may be commands: that allows everything that the control plane itself may do."""
    excluded: tuple[str, ...] = ()
    """Directories whose content may come from users who create Functions, such as unpacked images."""

    @property
    def is_nothing(self) -> bool:
        """Whether no Function may use anything."""
        return not (self.directories or self.commands)

    def check(self, package: Object) -> None:
        """Raise HostAccessRefused where a Function or Provider uses what is not allowed."""
        is_provider = package.get("kind") in PROVIDER_KINDS
        for use in provider_host_uses(package) if is_provider else host_uses(package):
            if not self._allows(use):
                kind, elsewhere = (
                    ("Provider", _PROVIDER_ELSEWHERE) if is_provider else ("Function", _ELSEWHERE)
                )
                raise HostAccessRefused(self._refusal(kind, package, use, elsewhere))

    def _allows(self, use: HostUse) -> bool:
        if use.path is None:
            return self.commands
        if any(_is_below(use.path, directory) for directory in self.excluded):
            return False
        return any(_is_below(use.path, directory) for directory in self.directories)

    def _refusal(self, kind: str, package: Object, use: HostUse, elsewhere: str) -> str:
        flag = "--allow-local-commands" if use.path is None else "--allow-local-functions=DIR"
        return (
            f'cannot run {kind} "{package["metadata"]["name"]}": annotation "{use.annotation}" names '
            f"{use.description} on the control plane's machine, "
            f"which its operator does not allow: {elsewhere}; "
            f"crossply up and crossply plan allow it with {flag}{self._places(use)}"
        )

    def _places(self, use: HostUse) -> str:
        """Where the path leads, and what is allowed: a relative one begins where the control plane does."""
        if use.path is None or "\0" in use.path:
            return ""
        allowed = ", ".join(map(os.path.abspath, self.directories)) or "no directory"
        return f" (it is {os.path.abspath(use.path)}; allowed is {allowed})"


EVERYTHING = HostAccess((os.sep,), commands=True)
"""For control planes whose only user is the author of the Functions."""


def _is_below(path: str, directory: str) -> bool:
    """Whether a path is in a directory after all symbolic links are resolved."""
    root = os.path.realpath(directory)
    try:
        return os.path.commonpath((os.path.realpath(path), root)) == root
    except ValueError:  # no path at all: it has a NUL
        return False
