"""The logins that packages are fetched with: pull secrets, and whatever else the settings have."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from typing import NamedTuple

from crossply.control.package_manager.settings import PackageSettings
from crossply.kube.client import Client
from crossply.kube.core_kinds import SECRET, SERVICE_ACCOUNT
from crossply.kube.failures import Forbidden
from crossply.values import Object
from crossply.xpkg.keychain import CombinedKeychain, DockerConfig, Keychain, KeychainError, from_secret


class Logins(NamedTuple):
    """A keychain, and what was to be a part of it and is not there."""

    keychain: Keychain
    missing: tuple[str, ...]


async def pull_secrets_for(client: Client, settings: PackageSettings, names: Iterable[str]) -> list[str]:
    """The names of the given pull secrets and those of the service account, each once."""
    return list(dict.fromkeys(filter(None, [*names, *await _of_account(client, settings)])))


async def logins_for(client: Client, settings: PackageSettings, names: Iterable[str]) -> Logins:
    """The logins of some pull secrets, and those of the settings."""
    keychains: list[Keychain] = []
    missing = []
    for name in names:
        secret = await client.get(SECRET, name, settings.namespace)
        if secret is None:
            missing.append(name)
        else:
            keychains.append(_login(secret, name))
    keychains += [settings.logins] if settings.logins is not None else []
    return Logins(CombinedKeychain(*keychains), tuple(missing))


async def _of_account(client: Client, settings: PackageSettings) -> list[str]:
    """The pull secrets of the control plane's own service account; there need not be one."""
    if not settings.service_account:
        return []
    try:
        account = await client.get(SERVICE_ACCOUNT, settings.service_account, settings.namespace)
    except Forbidden:
        return []
    return [str(secret.get("name") or "") for secret in (account or {}).get("imagePullSecrets") or ()]


def _login(secret: Object, name: str) -> DockerConfig:
    data = secret.get("data") or {}
    for key, form in ((".dockerconfigjson", b"%s"), (".dockercfg", b'{"auths":%s}')):
        if isinstance(data.get(key), str):
            return from_secret(form % decoded(data[key], name), name)
    raise KeychainError(
        f"the pull secret {name} has neither .dockerconfigjson nor .dockercfg",
        hint="make it with: kubectl create secret docker-registry",
    )


def decoded(text: str, name: str) -> bytes:
    """A value of a Secret."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise KeychainError(f"a value of the secret {name} is not valid base64") from None
