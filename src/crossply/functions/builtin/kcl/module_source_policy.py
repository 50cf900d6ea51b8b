"""What programs may be made of besides the text of a step, by the environment of the process.

Authors of Compositions must read neither arbitrary files of the machine nor services of its network. So
modules come from directories that the operator lists, and from registries that are public or listed too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from crossply.values.cache_directory import cache_directory

DIRECTORIES = "CROSSPLY_TEMPLATES"
"""The environment variable with the directories that may be read, separated as in PATH."""

REGISTRIES = "CROSSPLY_KCL_REGISTRIES"
"""The environment variable with registries in private networks that may be used, separated by commas."""

CACHE = "CROSSPLY_KCL_CACHE"
"""The environment variable with the directory for modules that come from registries."""

_LOGIN = ("KCL_SRC_URL", "KCL_SRC_USERNAME", "KCL_SRC_PASSWORD")


class RegistryLogin(NamedTuple):
    """A user of a registry. Nothing of it is ever printed."""

    url: str = ""
    """The registry; empty for that of the source."""
    username: str = ""
    password: str = ""

    def __repr__(self) -> str:
        return "RegistryLogin(…)"


NOBODY = RegistryLogin()


class ModuleAccess(NamedTuple):
    """Which modules may be used."""

    directories: tuple[str, ...] = ()
    """Real paths."""
    registries: frozenset[str] = frozenset()
    cache: str = ""
    login: RegistryLogin = NOBODY
    allows_plain_http: bool = False
    """Whether registries are accessed without TLS; those on this machine are where they have none."""
    models: str = ""
    """The generated models of a project, for modules whose link to them is missing."""

    def may_read(self, path: str) -> bool:
        """Whether a path is below an allowed directory after all links are resolved."""
        real = os.path.realpath(path)
        return any(os.path.commonpath((real, root)) == root for root in self.directories)

    def for_step(self, login: RegistryLogin, allows_plain_http: bool) -> ModuleAccess:
        """The same with the login of a step; that of the environment wins."""
        return self._replace(
            login=self.login if self.login.password else login, allows_plain_http=allows_plain_http
        )


def access_of(environ: Mapping[str, str], *directories: str, models: str = "") -> ModuleAccess:
    """The access that an environment grants, and that to further directories.

    `models` is the directory of a project's models, for modules whose link to them is missing.
    """
    listed = environ.get(DIRECTORIES, "").split(os.pathsep)
    registries = (name.strip() for name in environ.get(REGISTRIES, "").split(","))
    return ModuleAccess(
        tuple(os.path.realpath(path) for path in (*listed, *directories) if path),
        frozenset(name for name in registries if name),
        environ.get(CACHE) or cache_directory(environ, "kcl"),
        RegistryLogin(*(environ.get(name, "") for name in _LOGIN)),
        models=models,
    )
