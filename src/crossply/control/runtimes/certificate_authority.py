"""The authority that vouches for functions and for who calls them, and how a new one takes over.

A certificate is accepted by clients that know its authority, and a function's server learns of a new one
only when it restarts. So a new authority is first published (`next`): all clients trust it, and it
signs nothing. Later it signs, and the one before it stays trusted until it ends.

The Secrets have Crossplane's names and keys, so that either control plane uses what the other made. An
authority has an RSA key because Crossplane reads no other.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from crossply.certificates import (
    FOR_CLIENTS,
    Pair,
    Purpose,
    Span,
    names_of,
    new_authority,
    new_certificate,
    new_rsa_key,
    read_pair,
    read_subject,
    subject_of,
    was_issued_by,
)
from crossply.control.replica_shared_secret import Files

AUTHORITY = "crossplane-root-ca"
"""The Secret of the authority, and the name in its certificate."""
CERTIFICATE, KEY, TRUSTED = "tls.crt", "tls.key", "ca.crt"
NEXT_CERTIFICATE, NEXT_KEY = "next.crt", "next.key"
_OWNER = "Crossplane"


class Lifetimes(NamedTuple):
    """How long certificates are good for. Each is renewed when a third of its time is left."""

    authority: timedelta = timedelta(days=3650)
    certificate: timedelta = timedelta(days=365)
    skew: timedelta = timedelta(hours=1)
    """How far clocks may differ when a certificate is first shown."""


class Authorities(NamedTuple):
    """The signing authority, and all that are trusted."""

    signing: Pair
    next: Pair | None
    trusted: tuple[x509.Certificate, ...]

    @property
    def bundle(self) -> bytes:
        """All that are trusted, as PEM."""
        return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in self.trusted)


def read_authorities(files: Files, now: datetime) -> Authorities | None:
    """The authorities in the Secret; None if none of them can sign."""
    signing = _pair(files, CERTIFICATE, KEY)
    if signing is None or signing.certificate.not_valid_after_utc <= now:
        return None
    coming = _pair(files, NEXT_CERTIFICATE, NEXT_KEY)
    known = [signing.certificate, *([coming.certificate] if coming else []), *read_bundle(files)]
    by_print = {
        _print(certificate): certificate for certificate in known if certificate.not_valid_after_utc > now
    }
    return Authorities(signing, coming, tuple(by_print.values()))


def renew_authority(files: Files, now: datetime, lives: Lifetimes) -> Files | None:
    """What is to change in the Secret of the authority; None where it is as it should be."""
    authorities = read_authorities(files, now)
    if authorities is None:
        return _first(files, now, lives)
    renewal, turn = renewal_of(authorities.signing.certificate), _turn_of(authorities.signing.certificate)
    if authorities.next is None and now >= renewal:
        return _announced(authorities, _make(now, lives))
    if authorities.next is not None and now >= turn:
        return _promoted(authorities, authorities.next)
    return None


def renewal_time(authorities: Authorities) -> datetime:
    """When the authority is due the next time."""
    certificate = authorities.signing.certificate
    return renewal_of(certificate) if authorities.next is None else _turn_of(certificate)


def renew_certificate(
    files: Files, purpose: Purpose, authorities: Authorities, now: datetime, lives: Lifetimes
) -> Files | None:
    """What is to change in the Secret of a certificate; None where it is as it should be."""
    pair = _pair(files, CERTIFICATE, KEY)
    if pair is None or not _serves(pair, purpose, authorities, now):
        return issued(purpose, authorities, now, lives)
    trusted = {_print(certificate) for certificate in read_bundle(files)}
    if trusted == {_print(certificate) for certificate in authorities.trusted}:
        return None
    return {TRUSTED: authorities.bundle}


def issued(purpose: Purpose, authorities: Authorities, now: datetime, lives: Lifetimes) -> Files:
    """A new certificate, its key, and whom its holder is to trust."""
    ends = min(now + lives.certificate, authorities.signing.certificate.not_valid_after_utc)
    pair = new_certificate(purpose, authorities.signing, Span(now - lives.skew, ends))
    return {TRUSTED: authorities.bundle, CERTIFICATE: pair.certificate_pem, KEY: pair.key_pem}


def purpose_for(usage: x509.ObjectIdentifier, names: tuple[str, ...]) -> Purpose:
    """A certificate for these names."""
    return Purpose(subject_of(_OWNER, _OWNER), usage, names)


def renewal_of(certificate: x509.Certificate) -> datetime:
    """When a certificate is to be replaced."""
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return ends - (ends - begins) / 3


def read_bundle(files: Files) -> list[x509.Certificate]:
    """Whom the holder of these files trusts."""
    try:
        return x509.load_pem_x509_certificates(files.get(TRUSTED, b""))
    except ValueError:
        return []


def _turn_of(certificate: x509.Certificate) -> datetime:
    """When the next authority signs instead: halfway between the renewal of this one and its end."""
    renewal = renewal_of(certificate)
    return renewal + (certificate.not_valid_after_utc - renewal) / 2


def _make(now: datetime, lives: Lifetimes) -> Pair:
    # Two authorities that are trusted at once must not have the same name.
    subject = subject_of(f"{AUTHORITY} {x509.random_serial_number():x}"[:64], _OWNER)
    span = Span(now - lives.skew, now + lives.authority)
    return new_authority(subject, span, (AUTHORITY,), new_rsa_key())


def _first(files: Files, now: datetime, lives: Lifetimes) -> Files:
    """An authority where there is none, or where its time ran out: the next one, if there is one."""
    coming = _pair(files, NEXT_CERTIFICATE, NEXT_KEY)
    lasts = coming is not None and coming.certificate.not_valid_after_utc > now
    pair = coming if coming is not None and lasts else _make(now, lives)
    return {**_signing(pair), TRUSTED: pair.certificate_pem}


def _announced(authorities: Authorities, coming: Pair) -> Files:
    return {
        NEXT_CERTIFICATE: coming.certificate_pem,
        NEXT_KEY: coming.key_pem,
        TRUSTED: authorities.bundle + coming.certificate_pem,
    }


def _promoted(authorities: Authorities, coming: Pair) -> Files:
    return {**_signing(coming), TRUSTED: authorities.bundle}


def _signing(pair: Pair) -> Files:
    """The files with a new signing authority; empty files are left out."""
    return {CERTIFICATE: pair.certificate_pem, KEY: pair.key_pem, NEXT_CERTIFICATE: b"", NEXT_KEY: b""}


def is_from_another(files: Files) -> bool:
    """Whether a certificate, and everybody that its holder trusts, was made by another control plane."""
    pair = _pair(files, CERTIFICATE, KEY)
    authorities = [_common_name(certificate) for certificate in read_bundle(files)]
    own_subject = purpose_for(FOR_CLIENTS, ()).subject
    return (
        pair is not None
        and read_subject(pair.certificate) != own_subject
        and not any(name.startswith(AUTHORITY) for name in authorities)
    )


def _common_name(certificate: x509.Certificate) -> str:
    names = read_subject(certificate).get_attributes_for_oid(NameOID.COMMON_NAME)
    return "".join(str(name.value) for name in names)


def _serves(pair: Pair, purpose: Purpose, authorities: Authorities, now: datetime) -> bool:
    return (
        # Functions ask who signed the certificate of a caller, and not for its names.
        (purpose.usage == FOR_CLIENTS or set(purpose.names) <= set(names_of(pair.certificate)))
        and now < renewal_of(pair.certificate)
        and any(was_issued_by(pair.certificate, issuer) for issuer in authorities.trusted)
    )


def _pair(files: Files, certificate: str, key: str) -> Pair | None:
    try:
        return read_pair(files[certificate], files[key])
    except (KeyError, ValueError, TypeError):
        return None


def _print(certificate: x509.Certificate) -> bytes:
    return certificate.fingerprint(SHA256())
