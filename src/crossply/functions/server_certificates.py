"""The certificates of a function's server, read again for every connection.

A mounted Secret changes when its certificate is renewed. New connections get the new certificate and are
verified with the new authorities; open connections continue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crossply.functions.channels import newest_state, read_certificate
from crossply.functions.failures import FunctionError, ServeError

if TYPE_CHECKING:
    import grpc

_FILES = ("tls.key", "tls.crt", "ca.crt")


def server_credentials(directory: str) -> grpc.ServerCredentials:
    """Credentials of a directory of certificates, which ask for certificates of clients, too."""
    import grpc

    try:
        shown = _read(directory)
    except FunctionError as problem:
        raise ServeError(str(problem), hint=problem.hint) from None
    current = [shown]

    def reload_certificates() -> grpc.ServerCertificateConfiguration | None:
        try:
            certificates = _read(directory)
        except FunctionError:
            # They are being replaced, or lost: what was shown until now is still good.
            return None
        if certificates == current[0]:
            return None
        current[0] = certificates
        return _configuration(certificates)

    # The library takes None for "as before", which its annotations do not know.
    fetcher: Any = reload_certificates
    return grpc.dynamic_ssl_server_credentials(_configuration(shown), fetcher, True)


def _read(directory: str) -> tuple[bytes, ...]:
    directory = newest_state(directory)
    return tuple(read_certificate(directory, name) for name in _FILES)


def _configuration(files: tuple[bytes, ...]) -> grpc.ServerCertificateConfiguration:
    import grpc

    key, certificate, authority = files
    return grpc.ssl_server_certificate_configuration([(key, certificate)], authority)
