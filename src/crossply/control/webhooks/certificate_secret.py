"""One certificate for all replicas, shared through a Secret, and renewed in time by any of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from crossply.control.replica_shared_secret import Files, SharedSecret, files_of, selection_of
from crossply.control.webhooks.certificates import ServingCertificate, new_certificate
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.informer import Informer
from crossply.kube.list_options import Selection
from crossply.values import Object

NAME = "crossply-webhook-tls"
_KIND = "kubernetes.io/tls"


class NoCertificate(CrossplyError):
    """The certificate for webhooks cannot be used."""

    code = "CP-811"
    hint = f"delete the Secret {NAME} to have a new one made"


class SharedCertificate:
    """The certificate in the Secret, good for the names of this replica."""

    def __init__(
        self, client: Client, cache: Informer, names: tuple[str, ...], clock: Callable[[], datetime]
    ) -> None:
        """The cache is that of one Secret, see `selection_in`."""
        self._secret = SharedSecret(client, cache.selection.namespace, NAME, cache, kind=_KIND)
        self._names = names
        self._clock = clock

    async def ensure(self) -> ServingCertificate:
        """The certificate, made or renewed where that is due."""
        certificate = _certificate_in(await self._secret.settle(self._renewed))
        assert certificate is not None, "it was found to serve"
        return certificate

    async def refresh(self) -> None:
        """Look at the Secret itself, ahead of the watch."""
        await self._secret.refresh()

    def _renewed(self, files: Files) -> Files | None:
        current = _certificate_in(files)
        if current is not None and current.serves(self._names, self._clock()):
            return None
        return certificate_files(new_certificate(self._names, self._clock(), current))


def selection_in(namespace: str) -> Selection:
    """The Secret in a namespace."""
    return selection_of(namespace, NAME)


def read_certificate(secret: Object | None) -> ServingCertificate | None:
    """The certificate in a Secret; None where there is none that can be read."""
    return _certificate_in(files_of(secret))


def certificate_files(certificate: ServingCertificate) -> Files:
    """A certificate as the files of its Secret."""
    return {
        "ca.crt": certificate.authorities,
        "tls.crt": certificate.certificate,
        "tls.key": certificate.key,
    }


def _certificate_in(files: Files) -> ServingCertificate | None:
    try:
        certificate = ServingCertificate(files["ca.crt"], files["tls.crt"], files["tls.key"])
        return certificate if certificate.parsed else None
    except (KeyError, ValueError):
        return None
