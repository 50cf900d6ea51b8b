"""Make keys and certificates. The only module that loads `cryptography` to do it, and only when it must."""

from __future__ import annotations

import ipaddress
import os
from datetime import datetime, timedelta
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from crossply.apiserver.tls.files import CertificateError, Certificates, read, write_private
from crossply.apiserver.tls.keeping import RENEWED_BEFORE
from crossply.certificates import begin_certificate, key_usage, new_key

_AUTHORITY_LIFE = timedelta(days=3650)
_LEAF_LIFE = timedelta(days=365)
_SKEW = timedelta(minutes=5)
"""How far a client's clock may be behind when it first sees a certificate."""


class Pair(NamedTuple):
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


class _Leaf(NamedTuple):
    """What a certificate is for."""

    subject: x509.Name
    usage: x509.ObjectIdentifier
    names: list[str]


def make_missing(certificates: Certificates, names: list[str], now: datetime) -> datetime:
    """Make what is missing, about to end or for other names; tells when the first certificate ends."""
    authority = _kept(certificates.authority, certificates.authority_key, now + _LEAF_LIFE)
    if authority is None:
        authority = _new_authority(now)
        _save(authority, certificates.authority, certificates.authority_key)
    server = _Leaf(_subject("crossply-apiserver"), ExtendedKeyUsageOID.SERVER_AUTH, names)
    admin = _Leaf(_subject("crossply-admin", "system:masters"), ExtendedKeyUsageOID.CLIENT_AUTH, [])
    made = (
        _ensure_leaf(server, authority, certificates.server, certificates.server_key, now),
        _ensure_leaf(admin, authority, certificates.admin, certificates.admin_key, now),
    )
    if not os.path.exists(certificates.accounts_key):
        write_private(certificates.accounts_key, _key_pem(new_key()))
    return min(pair.certificate.not_valid_after_utc for pair in made)


def _ensure_leaf(leaf: _Leaf, authority: Pair, path: str, key_path: str, now: datetime) -> Pair:
    kept = _kept(path, key_path, now + RENEWED_BEFORE)
    if kept is not None and _was_signed_by(authority, kept) and _names(kept.certificate) == set(leaf.names):
        return kept
    pair = _new_leaf(leaf, authority, now)
    _save(pair, path, key_path)
    return pair


def _kept(path: str, key_path: str, until: datetime) -> Pair | None:
    """The pair in two files, if they are there, fit and last that long."""
    if not (os.path.exists(path) and os.path.exists(key_path)):
        return None
    try:
        certificate = x509.load_pem_x509_certificate(read(path))
        key = load_pem_private_key(read(key_path), password=None)
    except (ValueError, TypeError) as problem:
        raise CertificateError(f"cannot read {path} and its key: {problem}", place=path) from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        return None
    return Pair(certificate, key) if certificate.not_valid_after_utc > until else None


def _was_signed_by(authority: Pair, pair: Pair) -> bool:
    try:
        pair.certificate.verify_directly_issued_by(authority.certificate)
    except Exception:  # noqa: BLE001 - the library documents several errors, all of which mean "no"
        return False
    return True


def _names(certificate: x509.Certificate) -> set[str]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return set()
    addresses = found.get_values_for_type(x509.IPAddress)
    return {*found.get_values_for_type(x509.DNSName), *map(str, addresses)}


def _new_authority(now: datetime) -> Pair:
    key, subject = new_key(), _subject("crossply-ca")
    builder = begin_certificate(subject, subject, key.public_key(), now - _SKEW, now + _AUTHORITY_LIFE)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(key_usage(signs_certificates=True), critical=True)
    return Pair(builder.sign(key, SHA256()), key)


def _new_leaf(leaf: _Leaf, authority: Pair, now: datetime) -> Pair:
    key = new_key()
    builder = begin_certificate(
        leaf.subject, authority.certificate.subject, key.public_key(), now - _SKEW, now + _LEAF_LIFE
    )
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(key_usage(signs_certificates=False), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([leaf.usage]), critical=False)
    builder = builder.add_extension(issuer, critical=False)
    if leaf.names:
        alternatives = x509.SubjectAlternativeName([_general_name(name) for name in leaf.names])
        builder = builder.add_extension(alternatives, critical=False)
    return Pair(builder.sign(authority.key, SHA256()), key)


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        pass
    try:
        return x509.DNSName(name)
    except ValueError:
        raise CertificateError(f"{name!r} is neither a DNS name nor an IP address") from None


def _subject(name: str, group: str = "") -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
    if group:
        attributes.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
    return x509.Name(attributes)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _save(pair: Pair, path: str, key_path: str) -> None:
    # The key first: a certificate without its key would be found unfit and made again.
    write_private(key_path, _key_pem(pair.key))
    write_private(path, pair.certificate.public_bytes(Encoding.PEM))
