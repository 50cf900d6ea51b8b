"""Certificates for the webhook server: each with an authority of its own, whose key is not stored.

API servers trust a bundle of the newest authority and the one before, so that a replica
which still shows the older certificate is trusted until it has the newer one. All replicas share one
certificate through a Secret, and any of them renews it in time.
"""

from __future__ import annotations

from collections.abc import Callable
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
from crossply.control.replica_shared_secret import Files, SharedSecret, files_of, selection_of
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.informer import Informer
from crossply.kube.list_options import Selection
from crossply.values import Object

LIFE = timedelta(days=365)
RENEWED_BEFORE = LIFE / 3
_SKEW = timedelta(hours=1)
"""How far clocks may differ when a certificate is first shown."""
_MOST_NAMES = 32
_AUTHORITY = "crossply-webhook-ca"
NAME = "crossply-webhook-tls"
_KIND = "kubernetes.io/tls"


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


class NoCertificate(CrossplyError):
    """The certificate for webhooks cannot be used."""

    code = "CP-811"
    hint = f"delete the Secret {NAME} to have a new one made"


class SharedCertificate:
    """The certificate in the Secret, good for the names of this replica."""

    def __init__(
        self, client: Client, cache: Informer, names: tuple[str, ...], clock: Callable[[], datetime]
    ) -> None:
        """The cache is that of one Secret, see `selection_in`."""
        self._secret = SharedSecret(client, cache.selection.namespace, NAME, cache, kind=_KIND)
        self._names = names
        self._clock = clock

    async def ensure(self) -> ServingCertificate:
        """The certificate, made or renewed where that is due."""
        certificate = _certificate_in(await self._secret.settle(self._renewed))
        assert certificate is not None, "it was found to serve"
        return certificate

    async def refresh(self) -> None:
        """Look at the Secret itself, ahead of the watch."""
        await self._secret.refresh()

    def _renewed(self, files: Files) -> Files | None:
        current = _certificate_in(files)
        if current is not None and current.serves(self._names, self._clock()):
            return None
        return certificate_files(new_certificate(self._names, self._clock(), current))


def selection_in(namespace: str) -> Selection:
    """The Secret in a namespace."""
    return selection_of(namespace, NAME)


def read_certificate(secret: Object | None) -> ServingCertificate | None:
    """The certificate in a Secret; None where there is none that can be read."""
    return _certificate_in(files_of(secret))


def certificate_files(certificate: ServingCertificate) -> Files:
    """A certificate as the files of its Secret."""
    return {
        "ca.crt": certificate.authorities,
        "tls.crt": certificate.certificate,
        "tls.key": certificate.key,
    }


def _certificate_in(files: Files) -> ServingCertificate | None:
    try:
        certificate = ServingCertificate(files["ca.crt"], files["tls.crt"], files["tls.key"])
        return certificate if certificate.parsed else None
    except (KeyError, ValueError):
        return None
