"""Certificates for the webhook server: each with an authority of its own, whose key is not stored.

API servers trust a bundle of the newest authority and the one before, so that a replica
which still shows the older certificate is trusted until it has the newer one.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from crossply.certificates import (
    FOR_SERVERS,
    Purpose,
    Span,
    names_of,
    new_authority,
    read_subject,
    subject_of,
)
from crossply.certificates import new_certificate as certify

LIFE = timedelta(days=365)
RENEWED_BEFORE = LIFE / 3
_SKEW = timedelta(hours=1)
"""How far clocks may differ when a certificate is first shown."""
_MOST_NAMES = 32
_AUTHORITY = "crossply-webhook-ca"


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
        return names_of(self.parsed)

    @property
    def renewal(self) -> datetime:
        """When it is to be replaced."""
        return self.parsed.not_valid_after_utc - RENEWED_BEFORE

    def serves(self, names: tuple[str, ...], now: datetime) -> bool:
        """Whether it is good for these names, and for a while."""
        try:
            return set(names) <= set(self.names) and now < self.renewal
        except ValueError:
            return False


def new_certificate(
    names: tuple[str, ...], now: datetime, before: ServingCertificate | None = None
) -> ServingCertificate:
    """A certificate for these names and those of the one before, trusted together with it."""
    every = tuple(dict.fromkeys((*names, *_names_of(before))))[:_MOST_NAMES]
    span = Span(now - _SKEW, now + LIFE)
    # Two authorities that are trusted at once must not have the same name.
    serial = f"{x509.random_serial_number():x}"
    authority = new_authority(subject_of(f"{_AUTHORITY} {serial}"[:64]), span)
    issued = certify(Purpose(subject_of("crossply-webhook"), FOR_SERVERS, every), authority, span)
    return ServingCertificate(
        authorities=authority.certificate_pem + _newest_authority(before),
        certificate=issued.certificate_pem,
        key=issued.key_pem,
    )


def is_ours(authority: x509.Certificate) -> bool:
    """Whether an authority is one that was made here."""
    names = read_subject(authority).get_attributes_for_oid(NameOID.COMMON_NAME)
    return any(str(name.value).startswith(_AUTHORITY) for name in names)


def _names_of(certificate: ServingCertificate | None) -> tuple[str, ...]:
    try:
        return certificate.names if certificate is not None else ()
    except ValueError:
        return ()


def _newest_authority(certificate: ServingCertificate | None) -> bytes:
    try:
        authorities = (
            x509.load_pem_x509_certificates(certificate.authorities) if certificate is not None else []
        )
    except ValueError:
        return b""
    return authorities[0].public_bytes(Encoding.PEM) if authorities else b""
