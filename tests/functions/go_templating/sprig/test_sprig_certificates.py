"""Sprig's keys and certificates: their content and their issuers."""

from __future__ import annotations

import json
import sys
import warnings
from datetime import timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from crossply.functions.builtin.go_templating.sprig import keys
from tests.support.functions.sprig import error_of, rendered


@pytest.fixture(scope="module")
def elliptic_key() -> str:
    return keys.gen_private_key("ecdsa")


def certificates(template: str, data: Any = None) -> list[x509.Certificate]:
    """The certificates that a template writes one after the other, each after a bar."""
    texts = rendered(template, data).split("|")[1:]
    return [x509.load_pem_x509_certificate(text.encode()) for text in texts]


def extension(certificate: x509.Certificate, kind: type[Any]) -> Any:
    return certificate.extensions.get_extension_for_class(kind).value


def test_an_authority_signs_a_certificate_for_names_and_addresses() -> None:
    authority, signed = certificates(
        '{{ $ca := genCA "my-ca" 365 }}|{{ $ca.Cert }}'
        '{{ $c := genSignedCert "svc" (list "10.0.0.1" "::1") (list "a.example") 30 $ca }}|{{ $c.Cert }}'
    )
    signed.verify_directly_issued_by(authority)
    assert extension(authority, x509.BasicConstraints).ca
    assert not extension(signed, x509.BasicConstraints).ca
    names = extension(signed, x509.SubjectAlternativeName)
    assert names.get_values_for_type(x509.DNSName) == ["a.example"]
    assert [str(ip) for ip in names.get_values_for_type(x509.IPAddress)] == ["10.0.0.1", "::1"]
    assert signed.not_valid_after_utc - signed.not_valid_before_utc == timedelta(days=30)
    identifier = extension(authority, x509.SubjectKeyIdentifier).digest
    assert extension(signed, x509.AuthorityKeyIdentifier).key_identifier == identifier


def test_an_own_key_is_used_and_returned(elliptic_key: str) -> None:
    template = (
        '{{ $c := genSelfSignedCertWithKey "me" nil (list "x.y") 1 .key }}{{ eq $c.Key .key }}|{{ $c.Cert }}'
    )
    (certificate,) = certificates(template, {"key": elliptic_key})
    certificate.verify_directly_issued_by(certificate)
    assert certificate.subject.rfc4514_string() == "CN=me"
    assert rendered(template, {"key": elliptic_key}).startswith("true")


def test_usage_of_keys_fits_servers_and_clients(elliptic_key: str) -> None:
    authority, other = certificates(
        '{{ $ca := genCAWithKey "ca" 1 .key }}|{{ $ca.Cert }}'
        '{{ $c := genSignedCertWithKey "c" nil nil 1 $ca .key }}|{{ $c.Cert }}',
        {"key": elliptic_key},
    )
    assert extension(authority, x509.KeyUsage).key_cert_sign
    assert not extension(other, x509.KeyUsage).key_cert_sign
    assert len(extension(other, x509.ExtendedKeyUsage)) == 2


@pytest.mark.parametrize("name", ["", "x" * 200, "ünï"])
def test_any_name_will_do(elliptic_key: str, name: str) -> None:
    template = "{{ $c := genCAWithKey .name 1 .key }}|{{ $c.Cert }}"
    (certificate,) = certificates(template, {"key": elliptic_key, "name": name})
    with warnings.catch_warnings(action="ignore"):
        assert [attribute.value for attribute in certificate.subject] == ([name] if name else [])


def test_an_own_certificate_and_key_are_accepted(elliptic_key: str) -> None:
    template = (
        '{{ $a := genCAWithKey "ca" 1 .key }}'
        "{{ $b := buildCustomCert ($a.Cert | b64enc) ($a.Key | b64enc) }}"
        "{{ deepEqual $a $b }} {{ toJson $b }}"
    )
    same, _, text = rendered(template, {"key": elliptic_key}).partition(" ")
    assert same == "true"
    assert json.loads(text)["Key"] == elliptic_key


@pytest.mark.parametrize(
    ("kind", "label"),
    [("ecdsa", "EC PRIVATE KEY"), ("ed25519", "PRIVATE KEY")],
)
def test_keys_are_pem_of_their_kind(kind: str, label: str) -> None:
    text = rendered(f'{{{{ genPrivateKey "{kind}" }}}}')
    assert text.startswith(f"-----BEGIN {label}-----\n")
    load_pem_private_key(text.encode(), None)


def test_a_text_around_a_key_does_not_matter(elliptic_key: str) -> None:
    data = {"key": f"some text\n{elliptic_key}more"}
    assert rendered('{{ (genCAWithKey "x" 1 .key).Key | hasPrefix "-----BEGIN EC" }}', data) == "true"


def test_a_key_that_is_none_is_refused() -> None:
    broken = "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"
    message = error_of('{{ genCAWithKey "x" 1 .key }}', {"key": broken})
    assert message.startswith("parsing private key: parsing RSA private key from PEM: ")


def test_an_authority_must_have_a_certificate(elliptic_key: str) -> None:
    pair = {"cert": "bm9uZQ==", "key": elliptic_key}
    assert error_of("{{ buildCustomCert .cert (.key | b64enc) }}", pair) == "unable to decode certificate"


def test_bcrypt_makes_a_hash_that_its_library_accepts() -> None:
    library = pytest.importorskip("bcrypt")
    assert library.checkpw("pässword".encode(), rendered('{{ bcrypt "pässword" }}').encode())
    assert rendered('{{ htpasswd "me" "pw" }}').startswith("me:$2a$10$")


def test_bcrypt_fails_with_a_message_when_its_library_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bcrypt", None)
    assert error_of('{{ bcrypt "x" }}') == "the Python package bcrypt is not installed"
