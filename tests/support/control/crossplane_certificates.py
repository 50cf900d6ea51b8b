"""Certificates as Crossplane makes them: RSA keys, one serial number, and everybody has the same subject."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_EARTH = (NameOID.COUNTRY_NAME, NameOID.STATE_OR_PROVINCE_NAME, NameOID.LOCALITY_NAME)
_CROSSPLANE = (NameOID.ORGANIZATION_NAME, NameOID.COMMON_NAME)
_SERIAL = 2022
_LIFE = timedelta(days=3650)
Pair = tuple[x509.Certificate, rsa.RSAPrivateKey]
"""A certificate and its key."""


def certificate_of_crossplane(
    names: Iterable[str],
    usage: x509.ObjectIdentifier | None = None,
    authority: Pair | None = None,
    now: datetime | None = None,
) -> Pair:
    """A certificate and its key; an authority unless one is given, which then signs it."""
    key = rsa.generate_private_key(65537, 2048)
    begins = now or datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_subject())
        .issuer_name(_subject())
        .public_key(key.public_key())
        .serial_number(_SERIAL)
        .not_valid_before(begins)
        .not_valid_after(begins + _LIFE)
        .add_extension(x509.BasicConstraints(ca=authority is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
    )
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    if authority is None:
        return builder.add_extension(own, critical=False).sign(key, SHA256()), key
    assert usage is not None
    signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority[1].public_key())
    builder = builder.add_extension(signer, critical=False)
    builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    return builder.sign(authority[1], SHA256()), key


def files_of_crossplane(pair: Pair, authority: Pair | None = None) -> dict[str, bytes]:
    """A certificate as the files of its Secret; the Secret of an authority has no other's."""
    certificate, key = pair
    files = {
        "tls.crt": certificate.public_bytes(Encoding.PEM),
        "tls.key": key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()),
    }
    return files if authority is None else {**files, "ca.crt": authority[0].public_bytes(Encoding.PEM)}


def _subject() -> x509.Name:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        attributes = [x509.NameAttribute(key, "Earth", _validate=False) for key in _EARTH]
    return x509.Name([*attributes, *(x509.NameAttribute(key, "Crossplane") for key in _CROSSPLANE)])
