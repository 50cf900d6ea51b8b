"""EncryptionConfiguration as Kubernetes writes it: what is understood, and what is refused by name."""

from __future__ import annotations

import base64

import pytest

from crossply.apiserver.encryption import parse_configuration
from crossply.apiserver.storage import EncryptionUnusable

SECRET = base64.b64encode(bytes(range(32))).decode()
OTHER = base64.b64encode(bytes(range(16))).decode()


def configuration(*providers: str, resources: str = "[secrets]") -> str:
    lines = "\n".join(f"  - {provider}" for provider in providers)
    return (
        "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"
        f"- resources: {resources}\n  providers:\n{lines}\n"
    )


def aesgcm(*names: str, secret: str = SECRET) -> str:
    keys = ", ".join(f"{{name: {name}, secret: {secret}}}" for name in names)
    return f"aesgcm: {{keys: [{keys}]}}"


def test_the_first_key_of_the_first_provider_encrypts_and_all_decrypt() -> None:
    key = ("secrets", "default", "a")
    both = parse_configuration(
        configuration(aesgcm("new", secret=OTHER), aesgcm("old"), "identity: {}"), "file"
    )
    old = parse_configuration(configuration(aesgcm("old")), "file")
    assert both.encode(key, 1, b"{}").startswith(b"k8s:enc:aesgcm:v1:new:")
    assert both.decode(key, 1, old.encode(key, 1, b"{}")) == b"{}"
    assert both.decode(key, 1, b"{}") == b"{}"
    assert both.encode(("configmaps", "default", "a"), 1, b"{}") == b"{}"


def test_identity_first_writes_plain_text() -> None:
    off = parse_configuration(configuration("identity: {}", aesgcm("old")), "file")
    assert off.encode(("secrets", "default", "a"), 1, b"{}") == b"{}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (configuration("aescbc: {keys: []}"), "the provider aescbc is not supported"),
        (configuration("secretbox: {keys: []}"), "the provider secretbox is not supported"),
        (configuration("kms: {name: a}"), "the provider kms is not supported"),
        (configuration("vault: {}"), "has the unknown field vault"),
        (configuration("{}"), "must have exactly one provider"),
        (configuration(aesgcm("a", "a")), "two keys have the same name"),
        (configuration(aesgcm("'a:b'")), "keys[0].name must be"),
        (configuration(aesgcm("a", secret="c2hvcnQ=")), "keys[0].secret must be 16, 24 or 32 bytes"),
        (configuration(aesgcm("a"), resources="[]"), "resources must be a list that is not empty"),
        (configuration(aesgcm("a"), resources="['*']"), "something that is no resource"),
        (configuration(aesgcm("a")).replace("/v1", "/v2"), "is not a EncryptionConfiguration"),
        ("- a", "must be an object"),
        (f"a: [{SECRET}", "is not valid YAML"),
    ],
)
def test_an_invalid_configuration_is_refused_without_showing_a_key(text: str, sentence: str) -> None:
    with pytest.raises(EncryptionUnusable) as refused:
        parse_configuration(text, "file")
    assert sentence in str(refused.value)
    assert SECRET not in str(refused.value)
