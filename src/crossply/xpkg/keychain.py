"""Credentials for registries: Docker's configuration, credential helpers, and pull secrets."""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import orjson

from crossply.xpkg.failures import PackagesError
from crossply.xpkg.image_reference import DOCKER_HUB

_MAX_FILE = 1 << 20
_HELPER_SECONDS = 30.0
_HELPER_NAME = re.compile(r"[A-Za-z0-9._-]+")
_HUB_KEYS = ("https://index.docker.io/v1/", "index.docker.io", "docker.io", "registry-1.docker.io")
_TOKEN_USER = "<token>"
_TLS_PORT = ":443"


class KeychainError(PackagesError):
    """The credentials for a registry could not be read."""

    code = "CP-921"
    hint = "log in to the registry again, or check the file and the helper that it names"


class Login(NamedTuple):
    """What to show a registry. Nothing of it is ever printed."""

    username: str = ""
    password: str = ""
    identity_token: str = ""
    registry_token: str = ""

    def __repr__(self) -> str:
        return "Login(…)"

    @property
    def basic(self) -> str:
        """The header for a user with a password; empty where there is none."""
        if not self.username and not self.password:
            return ""
        pair = f"{self.username}:{self.password}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"


ANONYMOUS = Login()


class Keychain(Protocol):
    """Somewhere that logins come from."""

    async def login(self, registry: str) -> Login | None:
        """The login for a registry, or None where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class DockerConfig:
    """Docker's configuration, as it is in a file or in a pull secret."""

    content: Mapping[str, Any] = field(repr=False)
    environ: Mapping[str, str] = field(repr=False, default_factory=dict)
    helpers: bool = False
    """Whether programs that it names may be run: a secret may not have us run any."""

    async def login(self, registry: str) -> Login | None:
        """The login that it has for a registry."""
        helper = self._helper(registry)
        if helper:
            return await _ask_helper(helper, _server(registry), self.environ)
        auths = self.content.get("auths")
        entries = auths if isinstance(auths, dict) else {}
        for key in _keys(registry):
            for name, entry in entries.items():
                if _normal(name) == _normal(key) and isinstance(entry, dict):
                    return _read_entry(entry, registry)
        return None

    def _helper(self, registry: str) -> str:
        if not self.helpers:
            return ""
        chosen = self.content.get("credHelpers")
        for key in _keys(registry):
            if isinstance(chosen, dict) and isinstance(chosen.get(key), str):
                return str(chosen[key])
        store = self.content.get("credsStore")
        return store if isinstance(store, str) else ""


class CombinedKeychain:
    """Keychains that are asked one after the other."""

    def __init__(self, *keychains: Keychain) -> None:
        self._keychains = keychains

    async def login(self, registry: str) -> Login | None:
        """The first login that one of them has."""
        for keychain in self._keychains:
            login = await keychain.login(registry)
            if login is not None:
                return login
        return None


def default_keychain(environ: Mapping[str, str]) -> Keychain:
    """The logins of the user: of docker, or else of podman."""
    home = environ.get("HOME") or os.path.expanduser("~")
    docker = os.path.join(environ.get("DOCKER_CONFIG") or os.path.join(home, ".docker"), "config.json")
    paths = [docker]
    if environ.get("REGISTRY_AUTH_FILE"):
        paths.append(environ["REGISTRY_AUTH_FILE"])
    elif environ.get("XDG_RUNTIME_DIR"):
        paths.append(os.path.join(environ["XDG_RUNTIME_DIR"], "containers", "auth.json"))
    return CombinedKeychain(*(read_file(path, environ) for path in paths if os.path.isfile(path)))


def read_file(path: str, environ: Mapping[str, str]) -> DockerConfig:
    """The logins in one file."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_FILE + 1)
    except OSError as problem:
        raise KeychainError(f"cannot read {path}: {(problem.strerror or '').lower()}") from None
    return DockerConfig(_decoded(data, path), environ, helpers=True)


def from_secret(data: bytes, name: str) -> DockerConfig:
    """The logins in a pull secret (its .dockerconfigjson)."""
    return DockerConfig(_decoded(data, f"the pull secret {name}"))


def _decoded(data: bytes, source: str) -> dict[str, Any]:
    if len(data) > _MAX_FILE:
        raise KeychainError(f"{source} is too large")
    try:
        content = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise KeychainError(f"{source} is not JSON") from None
    if not isinstance(content, dict):
        raise KeychainError(f"{source} is not an object")
    return content


def _keys(registry: str) -> tuple[str, ...]:
    """What a registry is called in a configuration. A login is for one port: that of TLS, unless it says."""
    if registry == DOCKER_HUB:
        return _HUB_KEYS
    host = registry.removesuffix(_TLS_PORT)
    return (registry, f"{host}{_TLS_PORT}" if registry == host else host)


def _server(registry: str) -> str:
    return _HUB_KEYS[0] if registry == DOCKER_HUB else registry


def _normal(name: str) -> str:
    """The host of an entry, however it is written."""
    for scheme in ("https://", "http://"):
        name = name.removeprefix(scheme)
    return name.partition("/")[0]


def _read_entry(entry: Mapping[str, Any], registry: str) -> Login:
    username, password = entry.get("username") or "", entry.get("password") or ""
    if entry.get("auth"):
        try:
            decoded = base64.b64decode(str(entry["auth"]), validate=False).decode()
        except (binascii.Error, UnicodeDecodeError, ValueError):
            raise KeychainError(f"the login for {registry} is not valid base64") from None
        username, _, password = decoded.partition(":")
    return Login(
        str(username),
        str(password).rstrip("\x00"),
        str(entry.get("identitytoken") or ""),
        str(entry.get("registrytoken") or ""),
    )


async def _ask_helper(helper: str, server: str, environ: Mapping[str, str]) -> Login | None:
    """Ask a credential helper: it gets the server on standard input, and answers in JSON."""
    if not _HELPER_NAME.fullmatch(helper):
        raise KeychainError(f"{helper!r} is no name of a credential helper")
    program = f"docker-credential-{helper}"
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            "get",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=dict(environ) or None,
        )
    except OSError as problem:
        reason = (problem.strerror or "unknown error").lower()
        raise KeychainError(f"cannot run {program}: {reason}") from None
    try:
        answer, _ = await asyncio.wait_for(process.communicate(server.encode()), _HELPER_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise KeychainError(f"{program} did not answer in {_HELPER_SECONDS:.0f} seconds") from None
    if process.returncode:
        if b"credentials not found" in answer:
            return None
        raise KeychainError(f"{program} failed for {server}")
    content = _decoded(answer, f"the answer of {program}")
    username, secret = str(content.get("Username") or ""), str(content.get("Secret") or "")
    return Login(identity_token=secret) if username == _TOKEN_USER else Login(username, secret)
