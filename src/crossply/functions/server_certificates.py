"""The certificates that a function's server shows, looked at again for every connection.

A Secret that is mounted changes under the server when its certificate is renewed. Whoever connects then sees
the new one, and is verified by the authorities of now; connections that stand go on.
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
    seen = [shown]

    def look() -> grpc.ServerCertificateConfiguration | None:
        try:
            found = _read(directory)
        except FunctionError:
            # They are being replaced, or lost: what was shown until now is still good.
            return None
        if found == seen[0]:
            return None
        seen[0] = found
        return _configuration(found)

    # The library takes None for "as before", which its annotations do not know.
    looked: Any = look
    return grpc.dynamic_ssl_server_credentials(_configuration(shown), looked, True)


def _read(directory: str) -> tuple[bytes, ...]:
    directory = newest_state(directory)
    return tuple(read_certificate(directory, name) for name in _FILES)


def _configuration(files: tuple[bytes, ...]) -> grpc.ServerCertificateConfiguration:
    import grpc

    key, certificate, authority = files
    return grpc.ssl_server_certificate_configuration([(key, certificate)], authority)
