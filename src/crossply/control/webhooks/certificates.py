"""Certificates for the webhook server: each with an authority of its own, whose key nobody keeps.

What API servers are told to trust is a bundle of the newest authority and the one before, so that a replica
which still shows the older certificate is trusted until it has heard of the newer one.
"""

from __future__ import annotations

import ipaddress
from datetime import datetime, timedelta
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from crossply.certificates import begin_certificate, key_usage, new_key

LIFE = timedelta(days=365)
RENEWED_BEFORE = LIFE / 3
_SKEW = timedelta(hours=1)
"""How far clocks may differ when a certificate is first shown."""
_MOST_NAMES = 32


class ServingCertificate(NamedTuple):
    """What a replica shows, and what lets others trust it; all PEM."""

    authorities: bytes
    certificate: bytes
    key: bytes

    @property
    def parsed(self) -> x509.Certificate:
        """The certificate to read in."""
        return x509.load_pem_x509_certificate(self.certificate)

    @property
    def names(self) -> tuple[str, ...]:
        """The names and addresses that it is for, the most important first."""
        found = self.parsed.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        return tuple(str(name.value) for name in found)

    @property
    def renewal(self) -> datetime:
        """When it is to be replaced."""
        return self.parsed.not_valid_after_utc - RENEWED_BEFORE

    def serves(self, names: tuple[str, ...], now: datetime) -> bool:
        """Whether it is good for these names, and for a while."""
        try:
            return set(names) <= set(self.names) and now < self.renewal
        except (ValueError, x509.ExtensionNotFound):
            return False


def new_certificate(
    names: tuple[str, ...], now: datetime, before: ServingCertificate | None = None
) -> ServingCertificate:
    """A certificate for these names and those of the one before, trusted together with it."""
    older = _names_of(before)
    every = tuple(dict.fromkeys((*names, *older)))[:_MOST_NAMES]
    authority_key, key = new_key(), new_key()
    authority = _authority(authority_key, now)
    certificate = _leaf(every, key, authority, authority_key, now)
    newest = authority.public_bytes(Encoding.PEM)
    return ServingCertificate(
        authorities=newest + _newest_authority(before),
        certificate=certificate.public_bytes(Encoding.PEM),
        key=key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )


def _names_of(certificate: ServingCertificate | None) -> tuple[str, ...]:
    try:
        return certificate.names if certificate is not None else ()
    except (ValueError, x509.ExtensionNotFound):
        return ()


def _newest_authority(certificate: ServingCertificate | None) -> bytes:
    try:
        found = x509.load_pem_x509_certificates(certificate.authorities) if certificate is not None else []
    except ValueError:
        return b""
    return found[0].public_bytes(Encoding.PEM) if found else b""


def _authority(key: ec.EllipticCurvePrivateKey, now: datetime) -> x509.Certificate:
    # Two authorities that are trusted at once must not have the same name.
    subject = _subject(f"crossply-webhook-ca {x509.random_serial_number():x}"[:64])
    builder = begin_certificate(subject, subject, key.public_key(), now - _SKEW, now + LIFE)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(key_usage(signs_certificates=True), critical=True)
    return builder.sign(key, SHA256())


def _leaf(
    names: tuple[str, ...],
    key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
    now: datetime,
) -> x509.Certificate:
    builder = begin_certificate(
        _subject("crossply-webhook"), authority.subject, key.public_key(), now - _SKEW, now + LIFE
    )
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    for extension, critical in (
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (key_usage(signs_certificates=False), True),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
        (issuer, False),
        (x509.SubjectAlternativeName([_general_name(name) for name in names]), False),
    ):
        builder = builder.add_extension(extension, critical)
    return builder.sign(authority_key, SHA256())


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
