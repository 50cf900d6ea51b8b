"""The server's certificates: its own authority, kept between starts, and what it signs."""

from crossply.apiserver.tls.certificate_files import (
    CertificateError,
    Certificates,
    reload_server_certificate,
    server_ssl_context,
)
from crossply.apiserver.tls.certificate_renewal import ensure_certificates
from crossply.apiserver.tls.kubeconfig import write_kubeconfig

__all__ = [
    "CertificateError",
    "Certificates",
    "ensure_certificates",
    "reload_server_certificate",
    "server_ssl_context",
    "write_kubeconfig",
]
