"""The server's TLS context, with optional client certificates."""

from __future__ import annotations

import ssl

from crossply.apiserver.tls.certificate_files import CertificateError, Certificates


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
