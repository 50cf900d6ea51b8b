"""Credentials that a program prints (`users[].user.exec` of a kubeconfig), kept until they expire."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from crossply.kube.credentials import Credential, CredentialsFailed
from crossply.kube.tls import Certificate

PLUGIN_SECONDS = 60.0
EARLY_SECONDS = 10.0
"""How long before its end a credential is no longer used: the request must still arrive."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """How to call the program."""

    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    api_version: str
    install_hint: str = ""


class ExecCredentials:
    """Asks a program, and keeps its answer."""

    def __init__(self, plugin: Plugin, clock: Callable[[], float] = time.time) -> None:
        self._plugin = plugin
        self._clock = clock
        self._cached: Credential | None = None
        self._until: float | None = None
        self._asking = asyncio.Lock()

    async def current(self) -> Credential:
        """The kept answer while it is good, else a new one; callers at the same time share one question."""
        async with self._asking:
            if self._cached is None or (self._until is not None and self._clock() >= self._until):
                self._cached, self._until = _read(await _printed(self._plugin))
            return self._cached

    def refused(self) -> None:
        """Ask again next time."""
        self._cached = None


async def _printed(plugin: Plugin) -> bytes:
    try:
        process = await asyncio.create_subprocess_exec(
            plugin.command,
            *plugin.arguments,
            env={**os.environ, **plugin.environment, "KUBERNETES_EXEC_INFO": _exec_info(plugin)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as problem:
        message = f"cannot run the credential plugin {plugin.command}: {problem.strerror or problem}"
        raise CredentialsFailed(message, hint=plugin.install_hint) from None
    try:
        async with asyncio.timeout(PLUGIN_SECONDS):
            out, errors = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise CredentialsFailed(
            f"the credential plugin {plugin.command} took longer than {PLUGIN_SECONDS:g} s"
        ) from None
    if process.returncode:
        output = errors.decode(errors="replace").strip()[-500:]
        raise CredentialsFailed(
            f"the credential plugin {plugin.command} failed with exit code {process.returncode}: {output}"
        )
    return out


def _exec_info(plugin: Plugin) -> str:
    info = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": {"interactive": False}}
    return orjson.dumps(info).decode()


def _read(out: bytes) -> tuple[Credential, float | None]:
    """The credential that was printed, and until when it is good."""
    try:
        status = orjson.loads(out)["status"]
        certificate, key = status.get("clientCertificateData"), status.get("clientKeyData")
        shown = Certificate(certificate.encode(), key.encode()) if certificate and key else None
        authorization = f"Bearer {status['token']}" if status.get("token") else ""
        until = _until(status.get("expirationTimestamp"))
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError, ValueError):
        raise CredentialsFailed("the credential plugin printed no ExecCredential with a status") from None
    if not authorization and shown is None:
        raise CredentialsFailed(
            "the credential plugin returned neither a token nor a certificate with its key"
        )
    return Credential(authorization, shown), until


def _until(text: Any) -> float | None:
    return datetime.fromisoformat(text).timestamp() - EARLY_SECONDS if text else None
