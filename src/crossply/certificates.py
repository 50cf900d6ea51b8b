"""Keys, authorities and certificates: of the API server, of webhooks, and of functions and their callers."""

from __future__ import annotations

import ipaddress
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

FOR_SERVERS = ExtendedKeyUsageOID.SERVER_AUTH
FOR_CLIENTS = ExtendedKeyUsageOID.CLIENT_AUTH

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
"""Ours are elliptic; authorities that others made may be RSA."""


class Pair(NamedTuple):
    """A certificate and its key."""

    certificate: x509.Certificate
    key: PrivateKey

    @property
    def certificate_pem(self) -> bytes:
        """What others may see."""
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """The private key."""
        return key_pem(self.key)


class Purpose(NamedTuple):
    """What a certificate is for."""

    subject: x509.Name
    usage: x509.ObjectIdentifier
    names: tuple[str, ...] = ()
    """DNS names and addresses."""


class Span(NamedTuple):
    """From when until when."""

    begins: datetime
    ends: datetime


def new_key() -> ec.EllipticCurvePrivateKey:
    """A private key."""
    return ec.generate_private_key(ec.SECP256R1())


def new_rsa_key() -> rsa.RSAPrivateKey:
    """A private key for authorities that are shared with programs that read no other kind."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def key_pem(key: PrivateKey) -> bytes:
    """A private key as text, without a password; an RSA key in the form that every program reads."""
    form = PrivateFormat.TraditionalOpenSSL if isinstance(key, rsa.RSAPrivateKey) else PrivateFormat.PKCS8
    return key.private_bytes(Encoding.PEM, form, NoEncryption())


def new_authority(
    subject: x509.Name, span: Span, names: tuple[str, ...] = (), key: PrivateKey | None = None
) -> Pair:
    """A self-signed certificate authority. Without a key it gets a new one."""
    key = key or new_key()
    builder = _new_builder(subject, subject, key, span)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_key_usage(signs_certificates=True), critical=True)
    return Pair(_with_names(builder, names).sign(key, SHA256()), key)


def new_certificate(purpose: Purpose, authority: Pair, span: Span) -> Pair:
    """A certificate that an authority vouches for. ValueError for names that are none."""
    key = new_key()
    builder = _new_builder(purpose.subject, read_subject(authority.certificate), key, span)
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_key_usage(signs_certificates=False), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([purpose.usage]), critical=False)
    builder = builder.add_extension(issuer, critical=False)
    return Pair(_with_names(builder, purpose.names).sign(authority.key, SHA256()), key)


def subject_of(name: str, organization: str = "") -> x509.Name:
    """Whom a certificate is about."""
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
    if organization:
        attributes.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(attributes)


def read_subject(certificate: x509.Certificate) -> x509.Name:
    """Whom a certificate is about."""
    with _any_names():
        return certificate.subject


def read_pair(certificate: bytes, key: bytes) -> Pair | None:
    """The pair of two PEM texts; None where they do not belong together. ValueError for what is no PEM."""
    parsed = x509.load_pem_x509_certificate(certificate)
    secret = load_pem_private_key(key, password=None)
    if not isinstance(secret, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        return None
    return Pair(parsed, secret) if secret.public_key() == parsed.public_key() else None


def names_of(certificate: x509.Certificate) -> tuple[str, ...]:
    """The DNS names and addresses that a certificate is for, in its order."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return ()
    return tuple(str(name.value) for name in names)


def was_issued_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    """Whether an authority vouches for a certificate."""
    try:
        with _any_names():
            certificate.verify_directly_issued_by(authority)
    except Exception:  # noqa: BLE001 - the library documents several errors, all of which mean "no"
        return False
    return True


@contextmanager
def _any_names() -> Iterator[None]:
    """Read names without a warning: the country of Crossplane's certificates is Earth."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def _new_builder(
    subject: x509.Name, issuer: x509.Name, key: PrivateKey, span: Span
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(span.begins.astimezone(UTC))
        .not_valid_after(span.ends.astimezone(UTC))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _with_names(builder: x509.CertificateBuilder, names: tuple[str, ...]) -> x509.CertificateBuilder:
    if not names:
        return builder
    alternatives = x509.SubjectAlternativeName([_general_name(name) for name in names])
    return builder.add_extension(alternatives, critical=False)


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        pass
    try:
        return x509.DNSName(name)
    except ValueError:
        raise ValueError(f"{name!r} is neither a DNS name nor an IP address") from None


def _key_usage(signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
