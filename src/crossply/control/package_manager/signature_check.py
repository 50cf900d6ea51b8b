"""Checks that an image is signed as its ImageConfig requires; unknown kinds of signatures do not count."""

from __future__ import annotations

from typing import Any

from crossply.control.package_manager.pull_secrets import decoded
from crossply.kube.client import Client
from crossply.kube.core_kinds import SECRET
from crossply.values import Object
from crossply.xpkg.image_config_selection import SelectedConfig
from crossply.xpkg.image_reference import Reference
from crossply.xpkg.registry_session import Registries
from crossply.xpkg.signatures import Authority, NotSigned, verify


class SignatureChecker:
    """Checks signatures with the keys in the Secrets of one namespace."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client, self._namespace = client, namespace

    async def check(
        self, registries: Registries, reference: Reference, digest: str, chosen: SelectedConfig
    ) -> None:
        """Raise NotSigned unless one of the authorities of an ImageConfig signed the image."""
        authorities, refused = await self._authorities(_listed(chosen.config))
        if not authorities:
            reasons = "; ".join(refused) or "it names no key"
            raise NotSigned(f"signature verification of {reference.name}@{digest} failed: {reasons}")
        try:
            await verify(registries, reference, digest, authorities)
        except NotSigned as problem:
            if not refused:
                raise
            raise problem.replace(message=f"{problem}; {'; '.join(refused)}") from None

    async def _authorities(self, listed: list[Object]) -> tuple[list[Authority], list[str]]:
        """Those whose signatures can be checked, and why the others' cannot be."""
        usable, refused = [], []
        for entry in listed:
            try:
                usable.append(await self._authority(entry))
            except NotSigned as problem:
                refused.append(f"{entry.get('name', '')}: {problem}")
        return usable, refused

    async def _authority(self, entry: Object) -> Authority:
        if entry.get("attestations"):
            raise NotSigned("attestations are not supported")
        key = entry.get("key")
        if not isinstance(key, dict):
            raise NotSigned("keyless signatures are not supported")
        reference = key.get("secretRef") or {}
        name, field = str(reference.get("name") or ""), str(reference.get("key") or "")
        secret = await self._client.get(SECRET, name, self._namespace)
        data: Any = ((secret or {}).get("data") or {}).get(field)
        if not isinstance(data, str):
            raise NotSigned(f'there is no key "{field}" in the secret {self._namespace}/{name}')
        algorithm = str(key.get("hashAlgorithm") or "sha256")
        return Authority(str(entry.get("name") or ""), decoded(data, name), algorithm)


def key_secrets(config: Object) -> list[str]:
    """The names of the Secrets with the keys that an ImageConfig verifies images by."""
    keys = [authority.get("key") for authority in _listed(config)]
    references = [key.get("secretRef") or {} for key in keys if isinstance(key, dict)]
    return [str(reference["name"]) for reference in references if reference.get("name")]


def _listed(config: Object) -> list[Object]:
    section = config["spec"]["verification"]
    if section.get("provider") != "Cosign":
        return []
    listed = (section.get("cosign") or {}).get("authorities") or ()
    return [authority for authority in listed if isinstance(authority, dict)]
