"""Kubernetes' EncryptionConfiguration (apiserver.config.k8s.io/v1) with the providers aesgcm and identity."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection
from typing import Any

from crossply.apiserver.encryption.key_sources import check_resources
from crossply.apiserver.storage import Encryption, EncryptionKey, EncryptionUnusable, Providers, ResourceGroup
from crossply.values.yaml import load

_API_VERSION, _KIND = "apiserver.config.k8s.io/v1", "EncryptionConfiguration"
_KEY_SIZES = (16, 24, 32)
_KEY_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_NOT_SUPPORTED = ("aescbc", "secretbox", "kms")


def parse_configuration(text: str, place: str) -> Encryption:
    """Parse a configuration; raises EncryptionUnusable, which names the field and never a key."""
    try:
        configuration = load(text)
    except Exception:  # noqa: BLE001 - a message of the parser could quote a line with a key
        raise EncryptionUnusable(f"{place} is not valid YAML") from None
    fields = _object(configuration, place, ("apiVersion", "kind", "resources"))
    if (fields.get("apiVersion"), fields.get("kind")) != (_API_VERSION, _KIND):
        raise EncryptionUnusable(f"{place} is not a {_KIND} of {_API_VERSION}")
    groups = _list(fields, "resources", place)
    return Encryption([_group(group, f"{place}: resources[{n}]") for n, group in enumerate(groups)])


def _group(value: Any, place: str) -> ResourceGroup:
    group = _object(value, place, ("resources", "providers"))
    patterns = check_resources(_list(group, "resources", place), f"{place}.resources")
    providers = _list(group, "providers", place)
    return ResourceGroup(patterns, _providers(providers, f"{place}.providers"))


def _providers(values: list[Any], place: str) -> Providers:
    """The providers of a group; the first one writes."""
    keys: list[EncryptionKey] = []
    first: EncryptionKey | None = None
    reads_plain = False
    for number, value in enumerate(values):
        here = f"{place}[{number}]"
        provider = _object(value, here, ("aesgcm", "identity", *_NOT_SUPPORTED))
        if len(provider) != 1:
            raise EncryptionUnusable(f"{here} must have exactly one provider")
        if "identity" in provider:
            _object(provider["identity"] or {}, f"{here}.identity", ())
            reads_plain = True
            continue
        provider_keys = _aesgcm_keys(provider, here)
        if number == 0:
            first = provider_keys[0]
        keys += provider_keys
    _refuse_same_names(keys, place)
    return Providers(tuple(keys), first, reads_plain)


def _aesgcm_keys(provider: dict[str, Any], place: str) -> list[EncryptionKey]:
    for name in _NOT_SUPPORTED:
        if name in provider:
            raise EncryptionUnusable(
                f"{place}: the provider {name} is not supported",
                hint="use aesgcm, or identity for plain text; objects in etcd cannot be taken over by their "
                "bytes: export and apply them",
            )
    settings = _object(provider["aesgcm"], f"{place}.aesgcm", ("keys",))
    keys = _list(settings, "keys", f"{place}.aesgcm")
    return [_key(key, f"{place}.aesgcm.keys[{number}]") for number, key in enumerate(keys)]


def _key(value: Any, place: str) -> EncryptionKey:
    fields = _object(value, place, ("name", "secret"))
    name, encoded = fields.get("name"), fields.get("secret")
    if not isinstance(name, str) or not _KEY_NAME.fullmatch(name):
        raise EncryptionUnusable(f"{place}.name must be 1 to 63 letters, digits, '.', '_' or '-'")
    try:
        secret = base64.b64decode(encoded if isinstance(encoded, str) else "", validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if len(secret) not in _KEY_SIZES:
        raise EncryptionUnusable(
            f"{place}.secret must be 16, 24 or 32 bytes in base64",
            hint="make a key with: head -c 32 /dev/urandom | base64",
        )
    return EncryptionKey(name, secret)


def _refuse_same_names(keys: list[EncryptionKey], place: str) -> None:
    names = [key.name for key in keys]
    if len(names) != len(set(names)):
        raise EncryptionUnusable(f"{place}: two keys have the same name")


def _object(value: Any, place: str, known: Collection[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise EncryptionUnusable(f"{place} must be an object")
    if unknown := sorted(str(name) for name in value if name not in known):
        raise EncryptionUnusable(f"{place} has the unknown field {unknown[0]}")
    return value


def _list(owner: dict[str, Any], name: str, place: str) -> list[Any]:
    value = owner.get(name)
    if not isinstance(value, list) or not value:
        raise EncryptionUnusable(f"{place}.{name} must be a list that is not empty")
    return value
