"""Creates keys and certificates. Only this module loads `cryptography` for it, and only when needed."""

from __future__ import annotations

import os
from datetime import datetime, timedelta

from crossply.apiserver.tls.certificate_files import (
    RENEWED_BEFORE,
    CertificateError,
    Certificates,
    read,
    write_private,
)
from crossply.certificates import (
    FOR_CLIENTS,
    FOR_SERVERS,
    Pair,
    Purpose,
    Span,
    key_pem,
    names_of,
    new_authority,
    new_certificate,
    new_key,
    read_pair,
    subject_of,
    was_issued_by,
)

_AUTHORITY_LIFE = timedelta(days=3650)
_LEAF_LIFE = timedelta(days=365)
_SKEW = timedelta(minutes=5)
"""How far a client's clock may be behind when it first sees a certificate."""


def make_missing(certificates: Certificates, names: list[str], now: datetime) -> datetime:
    """Create what is missing, about to expire or for other names; returns the first expiry."""
    authority = _current_pair(certificates.authority, certificates.authority_key, now + _LEAF_LIFE)
    if authority is None:
        authority = new_authority(subject_of("crossply-ca"), Span(now - _SKEW, now + _AUTHORITY_LIFE))
        _save(authority, certificates.authority, certificates.authority_key)
    server = Purpose(subject_of("crossply-apiserver"), FOR_SERVERS, tuple(names))
    admin = Purpose(subject_of("crossply-admin", "system:masters"), FOR_CLIENTS)
    pairs = (
        _ensure_leaf(server, authority, certificates.server, certificates.server_key, now),
        _ensure_leaf(admin, authority, certificates.admin, certificates.admin_key, now),
    )
    if not os.path.exists(certificates.accounts_key):
        write_private(certificates.accounts_key, key_pem(new_key()))
    return min(pair.certificate.not_valid_after_utc for pair in pairs)


def _ensure_leaf(purpose: Purpose, authority: Pair, path: str, key_path: str, now: datetime) -> Pair:
    current = _current_pair(path, key_path, now + RENEWED_BEFORE)
    if (
        current is not None
        and was_issued_by(current.certificate, authority.certificate)
        and set(names_of(current.certificate)) == set(purpose.names)
    ):
        return current
    try:
        pair = new_certificate(purpose, authority, Span(now - _SKEW, now + _LEAF_LIFE))
    except ValueError as problem:
        raise CertificateError(str(problem)) from None
    _save(pair, path, key_path)
    return pair


def _current_pair(path: str, key_path: str, until: datetime) -> Pair | None:
    """The pair in two files, if they match and are valid until then."""
    if not (os.path.exists(path) and os.path.exists(key_path)):
        return None
    try:
        pair = read_pair(read(path), read(key_path))
    except (ValueError, TypeError) as problem:
        raise CertificateError(f"cannot read {path} and its key: {problem}", place=path) from None
    return pair if pair is not None and pair.certificate.not_valid_after_utc > until else None


def _save(pair: Pair, path: str, key_path: str) -> None:
    # The key first: a certificate without its key would be replaced.
    write_private(key_path, pair.key_pem)
    write_private(path, pair.certificate_pem)
