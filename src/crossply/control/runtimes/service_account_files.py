"""The files that a Provider on this machine has as a Pod would have them: service account and certificates.

They are renewed in place: a file is replaced as a whole, and programs that look at it again see the new one.
"""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import orjson

from crossply.control.replica_shared_secret import Files
from crossply.kube.client import Client
from crossply.kube.core_kinds import SERVICE_ACCOUNT
from crossply.values.timestamps import parse_timestamp
from crossply.values.yaml import dump

ACCOUNT, SERVER, CLIENT = "serviceaccount", "tls-server", "tls-client"
KUBECONFIG = "kubeconfig"
_LIFETIME = 3600
_TLS_FILES = ("ca.crt", "tls.crt", "tls.key")


class AccountToken(NamedTuple):
    """A token of a service account, and when to have another one."""

    token: str
    renewal: datetime


async def request_token(client: Client, namespace: str, account: str) -> AccountToken:
    """A new token; it is to be renewed when a fifth of its time is left, as Pods do."""
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": _LIFETIME},
    }
    path = f"{SERVICE_ACCOUNT.path(namespace, account)}/token"
    reply = await client.request("POST", path, body=body, counted=("create", "serviceaccounts/token"))
    status = orjson.loads(reply.data)["status"]
    now = datetime.now(UTC)
    expiry = parse_timestamp(status["expirationTimestamp"]) or now
    return AccountToken(status["token"], now + max((expiry - now) * 0.8, timedelta(minutes=1)))


class ProviderFiles:
    """The directory of one revision; only this user may enter the directory around it."""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    def path(self, *names: str) -> str:
        """A file or directory in it."""
        return os.path.join(self.directory, *names)

    def write_account(self, token: str, authority: bytes, namespace: str) -> None:
        """What a Pod has below /var/run/secrets/kubernetes.io/serviceaccount."""
        for name, data in (
            ("token", token.encode()),
            ("ca.crt", authority),
            ("namespace", namespace.encode()),
        ):
            self._write(data, ACCOUNT, name)

    def write_certificates(self, folder: str, files: Files) -> None:
        """What a Pod has of a Secret with a certificate."""
        for name in _TLS_FILES:
            self._write(files.get(name, b""), folder, name)

    def write_kubeconfig(self, server: str, namespace: str) -> None:
        """A kubeconfig for the same service account; it names the files of the account."""
        cluster = {"server": server, "certificate-authority": self.path(ACCOUNT, "ca.crt")}
        context = {"cluster": "crossply", "user": "provider", "namespace": namespace}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "crossply", "cluster": cluster}],
            "users": [{"name": "provider", "user": {"tokenFile": self.path(ACCOUNT, "token")}}],
            "contexts": [{"name": "provider", "context": context}],
            "current-context": "provider",
        }
        self._write(dump(config).encode(), KUBECONFIG)

    def remove(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def _write(self, data: bytes, *names: str) -> None:
        path = self.path(*names)
        try:
            with open(path, "rb") as file:
                if file.read() == data:
                    return
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        # A container's user may be another one than ours.
        with open(os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), "wb") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(data)
        os.replace(f"{path}.new", path)
