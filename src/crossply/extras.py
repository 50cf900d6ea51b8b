"""Optional dependencies: which extra of the package has a module, and how to install that extra."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from typing import Any
from urllib.parse import unquote, urlsplit

EXTRAS = {"kcl_lib": "kcl", "opentelemetry": "otel", "psycopg": "postgresql"}
"""The extra of pyproject.toml for each optional module."""


def install_command(extra: str) -> str:
    """The command that installs an extra as this Crossply was installed, from where it was installed."""
    return command_for(extra, sys.prefix, _origin(), os.environ.get("PATH", ""))


def command_for(extra: str, prefix: str, origin: dict[str, Any], search_path: str) -> str:
    """The command for an environment: with pipx, uv tool or pip.

    `origin` is the content of the `direct_url.json` that installers write (PEP 610): it is empty for a
    package from an index, and names the checkout or the wheel otherwise.
    """
    requirement = _requirement(extra, origin)
    folders = os.path.abspath(prefix).split(os.sep)[-3:-1]
    if folders == ["pipx", "venvs"]:
        return f"pipx install --force {requirement}"
    if folders == ["uv", "tools"]:
        return f"uv tool install {requirement}"
    return f"{_pip(prefix, search_path)} install {requirement}"


def _requirement(extra: str, origin: dict[str, Any]) -> str:
    url = str(origin.get("url") or "")
    path = unquote(urlsplit(url).path)
    if not url.startswith("file:") or not os.path.exists(path):
        return f"'crossply[{extra}]'"
    if (origin.get("dir_info") or {}).get("editable"):
        return f"-e {shlex.quote(f'{path}[{extra}]')}"
    return shlex.quote(f"crossply[{extra}] @ {url}")


def _pip(prefix: str, search_path: str) -> str:
    """`pip` where that is the environment's own, otherwise its path."""
    own = os.path.join(prefix, "bin", "pip")
    return "pip" if not os.path.exists(own) or shutil.which("pip", path=search_path) == own else own


def _origin() -> dict[str, Any]:
    from importlib.metadata import PackageNotFoundError, distribution  # slow to import

    try:
        text = distribution("crossply").read_text("direct_url.json")
    except PackageNotFoundError:
        return {}
    content = json.loads(text) if text else {}
    return content if isinstance(content, dict) else {}
