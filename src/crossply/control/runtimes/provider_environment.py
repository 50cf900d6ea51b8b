"""The variables that a Provider on this machine has as its Pod would have them."""

from __future__ import annotations

from urllib.parse import urlsplit

from crossply.compose.object_metadata import uid_of
from crossply.control.runtimes.manifest_metadata import Subject
from crossply.control.runtimes.service_account_files import CLIENT, KUBECONFIG, SERVER, ProviderFiles


def identity_variables(subject: Subject) -> dict[str, str]:
    """Who the Provider is."""
    return {
        "POD_NAMESPACE": subject.namespace,
        "PROVIDER_NAME": subject.package,
        "REVISION_NAME": subject.name,
        "REVISION_UID": uid_of(subject.revision),
    }


def certificate_variables(server: str, client: str) -> dict[str, str]:
    """Where its certificates are: the directories of the server's and of the client's."""
    return {
        "TLS_CLIENT_CERTS_DIR": client,
        "TLS_SERVER_CERTS_DIR": server,
        "WEBHOOK_TLS_CERT_DIR": server,
    }


def api_variables(server: str) -> dict[str, str]:
    """Where the API server is; `server` is its URL."""
    parts = urlsplit(server)
    host, port = parts.hostname or "127.0.0.1", str(parts.port or 443)
    return {
        "KUBERNETES_SERVICE_HOST": host,
        "KUBERNETES_SERVICE_PORT": port,
        "KUBERNETES_SERVICE_PORT_HTTPS": port,
    }


def process_environment(subject: Subject, files: ProviderFiles, server: str) -> dict[str, str]:
    """What a process of this machine gets beside our own environment."""
    return {
        **identity_variables(subject),
        **certificate_variables(files.path(SERVER), files.path(CLIENT)),
        **api_variables(server),
        "KUBECONFIG": files.path(KUBECONFIG),
    }
