"""CRDs outside of packages: in a git repository, or at a URL."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from crossply.manifests.manifest import Manifest, files_below
from crossply.project.dependency_entries import ProjectDependencyError
from crossply.values import Object
from crossply.values.yaml import YamlError, read_documents
from crossply.values.yaml.limits import MAX_BYTES

_SECONDS = 60
_GIT_SECONDS = 600
_PROTOCOLS = "https:http:ssh:git:file"
_DEFINING = (
    ("apiextensions.crossplane.io", "CompositeResourceDefinition"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
)


class GitLogin(NamedTuple):
    """What to show to a git server."""

    username: str = ""
    token: str = ""
    host: str = ""
    """The only one that the token is shown to: a project may name any."""


NOBODY = GitLogin()


def from_url(url: str) -> list[Manifest]:
    """The definitions behind a URL."""
    from http.client import HTTPException
    from urllib.request import urlopen

    if not url.startswith(("http://", "https://")):
        raise ProjectDependencyError(
            f"unsupported URL scheme: {url.partition(':')[0]}", hint="use http or https"
        )
    try:
        with urlopen(url, timeout=_SECONDS) as response:
            data = response.read(MAX_BYTES + 1)
    except (OSError, HTTPException, ValueError) as problem:
        raise ProjectDependencyError(f"failed to fetch URL: {url}: {problem}", hint="check the URL") from None
    try:
        manifests = _defining(data, url)
    except YamlError as problem:
        hint = "name the URL of the file itself, not of a page that shows it"
        raise problem.replace(hint=hint).within(f"cannot read {url}") from None
    return _some(manifests, url)


def from_git(source: Object, login: GitLogin, environ: Mapping[str, str]) -> list[Manifest]:
    """The definitions in a git repository, or below a path of it."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="crossply-git-") as folder:
        _check_out(folder, source, _environment(login, environ))
        below = os.path.normpath(os.path.join(folder, source.get("path") or "."))
        if below != folder and not below.startswith(f"{folder}/"):
            raise ProjectDependencyError(f"path {source['path']} leads out of the repository")
        if not os.path.exists(below):
            raise ProjectDependencyError(
                f"cannot read cloned path {source['path']}: it does not exist",
                hint="check --git-path and --git-ref",
            )
        return _some(definitions_in(below), source["repository"])


def _check_out(folder: str, source: Object, environ: dict[str, str]) -> None:
    ref = source.get("ref") or "HEAD"
    for word in (source["repository"], ref):
        if word.startswith("-"):
            raise ProjectDependencyError(f'"{word}" is neither a repository nor a ref')
    prefix = f"failed to clone repository {source['repository']}"
    _git(prefix, environ, "init", "--quiet", folder)
    _git(prefix, environ, "-C", folder, "fetch", "--quiet", "--depth=1", "--", source["repository"], ref)
    _git(prefix, environ, "-C", folder, "-c", "core.symlinks=false", "checkout", "--quiet", "FETCH_HEAD")


def _git(prefix: str, environ: dict[str, str], *words: str) -> None:
    import subprocess

    try:
        subprocess.run(
            ["git", *words], check=True, capture_output=True, text=True, env=environ, timeout=_GIT_SECONDS
        )
    except FileNotFoundError:
        raise ProjectDependencyError(
            f"{prefix}: the program git is not there", hint="install git, or name the URL of a YAML file"
        ) from None
    except subprocess.TimeoutExpired:
        raise ProjectDependencyError(f"{prefix}: git took more than {_GIT_SECONDS} seconds") from None
    except subprocess.CalledProcessError as problem:
        lines = problem.stderr.strip().splitlines() or ["git failed"]
        raise ProjectDependencyError(
            f"{prefix}: {lines[-1]}", hint="check the URL, --git-ref and your rights"
        ) from None


def _environment(login: GitLogin, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of git. It holds the token, because other users can read arguments."""
    variables = {**environ, "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": _PROTOCOLS, "LC_ALL": "C"}
    if login.token:
        from base64 import b64encode

        from crossply.xpkg.address_guard import is_loopback

        # Over TLS, and with none on this machine only. Redirects to elsewhere are not for the token, either.
        schemes = ("https", "http") if is_loopback(login.host) else ("https",)
        shown = b64encode(f"{login.username}:{login.token}".encode()).decode()
        for number, scheme in enumerate(schemes):
            variables[f"GIT_CONFIG_KEY_{number}"] = f"http.{scheme}://{login.host}/.extraHeader"
            variables[f"GIT_CONFIG_VALUE_{number}"] = f"Authorization: Basic {shown}"
        variables |= {"GIT_CONFIG_COUNT": str(len(schemes))}
    return variables


def definitions_in(path: str) -> list[Manifest]:
    """The definitions in all YAML files of a directory. There are others, too, such as templates."""
    files = [path] if os.path.isfile(path) else files_below(path)
    manifests: list[Manifest] = []
    for file in files:
        with open(file, "rb") as opened:
            data = opened.read(MAX_BYTES + 1)
        try:
            manifests += _defining(data, os.path.relpath(file, path))
        except YamlError:
            continue
    return manifests


def _defining(data: bytes, source: str) -> list[Manifest]:
    manifests = [
        Manifest(document.value, document)
        for document in read_documents(data, source)
        if isinstance(document.value, dict)
    ]
    return [manifest for manifest in manifests if manifest.group_kind in _DEFINING]


def _some(manifests: list[Manifest], source: str) -> list[Manifest]:
    if manifests:
        return manifests
    raise ProjectDependencyError(
        f"no {' or '.join(kind for _, kind in _DEFINING)} in {source}",
        hint="name what defines kinds, in YAML",
    )
