"""Loads the certificates of the last start, and renews those that are about to expire.

A small record beside them says whether they are current, because reading certificates needs a library that is
slow to load. The record is written last and has the digest of the files: if a file was lost or changed, the
certificates are checked, and created again where needed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import orjson

from crossply.apiserver.tls.certificate_files import (
    RENEWED_BEFORE,
    CertificateError,
    Certificates,
    narrow_rights,
    read,
    write_private,
)
from crossply.values.digest import sha256_hex

LOCAL_NAMES = (
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)


def ensure_certificates(
    directory: str, names: Iterable[str] = (), now: datetime | None = None
) -> Certificates:
    """The certificates in a directory, valid for `names` besides the local ones; created or renewed if
    needed.
    """
    certificates = Certificates(directory)
    all_names = sorted({*LOCAL_NAMES, *names})
    time = now or datetime.now(UTC)
    _prepare(directory)
    if not _are_current(certificates, all_names, time):
        _make(certificates, all_names, time)
    for key in certificates.private():
        narrow_rights(key)
    return certificates


def _prepare(directory: str) -> None:
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
    except OSError as problem:
        raise CertificateError(f"cannot make {directory}: {problem.strerror}", place=directory) from None


def _are_current(certificates: Certificates, names: list[str], now: datetime) -> bool:
    """Whether the record says that nothing has to be created."""
    record = _record(certificates)
    if record.get("names") != names or not all(map(os.path.exists, certificates.all())):
        return False
    ends = record.get("renewAfter", "")
    return bool(ends) and now < datetime.fromisoformat(ends) and record.get("digest") == _digest(certificates)


def _record(certificates: Certificates) -> dict[str, Any]:
    try:
        record = orjson.loads(read(certificates.record)) if os.path.exists(certificates.record) else {}
    except orjson.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def _digest(certificates: Certificates) -> str:
    return sha256_hex(b"\0".join(read(path) for path in certificates.all()))


def _make(certificates: Certificates, names: list[str], now: datetime) -> None:
    from crossply.apiserver.tls.certificate_creation import make_missing

    ends = make_missing(certificates, names, now)
    record = {
        "names": names,
        "renewAfter": (ends - RENEWED_BEFORE).isoformat(),
        "digest": _digest(certificates),
    }
    write_private(certificates.record, orjson.dumps(record))
