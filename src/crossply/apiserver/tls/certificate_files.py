"""The server's certificates and keys: their paths, and the TLS context that uses them.

Files are written atomically, keys readable by the owner only.
"""

from __future__ import annotations

import contextlib
import os
import re
import ssl
from dataclasses import dataclass
from datetime import timedelta

from crossply.errors import CrossplyError

RENEWED_BEFORE = timedelta(days=30)
"""How long before its expiry a certificate is renewed."""
_PRIVATE = 0o600
_UNFINISHED = re.compile(r".+\.[0-9]+\.new")


class CertificateError(CrossplyError):
    """The server's certificates or keys cannot be read or created."""

    code = "CP-633"
    hint = "move the directory away to get new ones; clients then need the new kubeconfig"


@dataclass(frozen=True, slots=True)
class Certificates:
    directory: str

    @property
    def authority(self) -> str:
        """The certificate that clients trust."""
        return self._file("ca.crt")

    @property
    def authority_key(self) -> str:
        return self._file("ca.key")

    @property
    def server(self) -> str:
        return self._file("server.crt")

    @property
    def server_key(self) -> str:
        return self._file("server.key")

    @property
    def admin(self) -> str:
        """A client certificate of the group system:masters."""
        return self._file("admin.crt")

    @property
    def admin_key(self) -> str:
        return self._file("admin.key")

    @property
    def accounts_key(self) -> str:
        return self._file("service-accounts.key")

    @property
    def record(self) -> str:
        """What the certificates contain, without parsing them."""
        return self._file("certificates.json")

    def all(self) -> tuple[str, ...]:
        return (self.authority, self.server, self.admin, *self.private())

    def private(self) -> tuple[str, ...]:
        """Every file that nobody else may read."""
        return (self.authority_key, self.server_key, self.admin_key, self.accounts_key)

    def _file(self, name: str) -> str:
        return os.path.join(self.directory, name)


def read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as problem:
        raise CertificateError(f"cannot read {path}: {problem.strerror}", place=path) from None


def write_private(path: str, data: bytes) -> None:
    """Write a file that only its owner can read. It is never visible incomplete, nor with wider permissions.

    A file with the right content is not written: a start then needs no disk space for it.
    """
    if _is_private(path, data):
        return
    temporary = f"{path}.{os.getpid()}.new"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE)
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), _PRIVATE)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as problem:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise CertificateError(f"cannot write {path}: {problem.strerror}", place=path) from None


def remove_unfinished(directory: str) -> None:
    """Remove unfinished files of a process that was killed. Nobody else may be writing."""
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(directory):
            if _UNFINISHED.fullmatch(name):
                os.unlink(os.path.join(directory, name))


def _is_private(path: str, data: bytes) -> bool:
    """Whether a file has this content, and only its owner can read it."""
    try:
        with open(path, "rb") as file:
            return not os.fstat(file.fileno()).st_mode & 0o077 and file.read() == data
    except OSError:
        return False


def narrow_rights(path: str) -> None:
    if os.stat(path).st_mode & 0o077:
        os.chmod(path, _PRIVATE)


def server_ssl_context(
    certificates: Certificates, client_authority: str = "", certificate: str = "", key: str = ""
) -> ssl.SSLContext:
    """A context that requests client certificates, and refuses those of other authorities.

    `client_authority` is a PEM file of other authorities for clients, `certificate` and `key` a server
    certificate from elsewhere.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate or certificates.server, key or certificates.server_key)
        context.load_verify_locations(client_authority or certificates.authority)
    except (OSError, ssl.SSLError) as problem:
        raise CertificateError(f"cannot use the server's certificates: {problem}") from None
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


def reload_server_certificate(context: ssl.SSLContext, certificates: Certificates) -> None:
    """Use a renewed certificate for new connections."""
    try:
        context.load_cert_chain(certificates.server, certificates.server_key)
    except (OSError, ssl.SSLError) as problem:
        raise CertificateError(f"cannot use the server's certificates: {problem}") from None
