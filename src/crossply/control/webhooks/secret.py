"""One certificate for all replicas, shared through a Secret, and renewed in time by whoever comes first."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from datetime import datetime

import orjson

from crossply.control.kinds import SECRET
from crossply.control.webhooks.certificates import ServingCertificate, new_certificate
from crossply.errors import CrossplyError
from crossply.kube.cache import Cache
from crossply.kube.client import Client
from crossply.kube.failures import Conflict
from crossply.kube.selection import Selection
from crossply.values import Object

NAME = "crossply-webhook-tls"
MANAGER = "crossply"
_TRIES = 20


class NoCertificate(CrossplyError):
    """Replicas do not agree on a certificate for webhooks."""

    code = "CP-811"
    hint = f"delete the Secret {NAME} to have a new one made"


class SharedCertificate:
    """The certificate in the Secret, good for the names of this replica."""

    def __init__(
        self, client: Client, cache: Cache, names: tuple[str, ...], clock: Callable[[], datetime]
    ) -> None:
        """The cache is that of one Secret, see `selection_in`."""
        self._client = client
        self._cache = cache
        self._namespace = cache.selection.namespace
        self._names = names
        self._clock = clock

    async def ensure(self) -> ServingCertificate:
        """The certificate, made or renewed where that is due."""
        for _ in range(_TRIES):
            data = self._cache.get(self._namespace, NAME)
            secret = None if data is None else orjson.loads(data)
            current = read_certificate(secret)
            if current is not None and current.serves(self._names, self._clock()):
                return current
            try:
                await self._write(secret, new_certificate(self._names, self._clock(), current))
            except Conflict:
                # Another replica was quicker: theirs may do for us, too.
                await self.refresh()
        raise NoCertificate("cannot agree with other replicas on a certificate for webhooks")

    async def refresh(self) -> None:
        """Look at the Secret itself, ahead of the watch."""
        found = await self._client.get(SECRET, NAME, self._namespace)
        if found is not None:
            self._cache.learn(found)

    async def _write(self, secret: Object | None, certificate: ServingCertificate) -> None:
        body = secret_of(certificate, self._namespace)
        if secret is None:
            self._cache.learn(await self._client.create(SECRET, body, MANAGER))
            return
        version = secret["metadata"]["resourceVersion"]
        body["metadata"] = {**secret["metadata"], "resourceVersion": version}
        self._cache.learn(await self._client.update(SECRET, body, MANAGER))


def selection_in(namespace: str) -> Selection:
    """The Secret in a namespace."""
    return Selection(namespace, fields=f"metadata.name={NAME}")


def secret_of(certificate: ServingCertificate, namespace: str) -> Object:
    """A certificate as a Secret."""
    files = {
        "ca.crt": certificate.authorities,
        "tls.crt": certificate.certificate,
        "tls.key": certificate.key,
    }
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": NAME, "namespace": namespace},
        "type": "kubernetes.io/tls",
        "data": {name: base64.b64encode(content).decode() for name, content in files.items()},
    }


def read_certificate(secret: Object | None) -> ServingCertificate | None:
    """The certificate in a Secret; None where there is none that can be read."""
    data = (secret or {}).get("data") or {}
    try:
        found = ServingCertificate(
            *(base64.b64decode(data[name], validate=True) for name in ("ca.crt", "tls.crt", "tls.key"))
        )
        return found if found.parsed else None
    except (KeyError, TypeError, ValueError, binascii.Error):
        return None
