"""The kubeconfig of the administrator."""

from __future__ import annotations

import base64
import os

from crossply.apiserver.tls.certificate_files import Certificates, read, write_private
from crossply.values import Object

_NAME = "crossply"


def write_kubeconfig(path: str, url: str, certificates: Certificates, token: str = "") -> None:
    """Write a kubeconfig with a bearer token, or else with the client certificate."""
    from crossply.values.yaml import dump

    directory = os.path.dirname(os.path.abspath(path))
    os.makedirs(directory, mode=0o700, exist_ok=True)
    write_private(path, dump(_kubeconfig(url, certificates, token)).encode())


def _kubeconfig(url: str, certificates: Certificates, token: str) -> Object:
    cluster = {"server": url, "certificate-authority-data": _data(certificates.authority)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": _NAME, "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": token} if token else _credentials(certificates)}],
        "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": "admin", "namespace": "default"}}],
        "current-context": _NAME,
    }


def _credentials(certificates: Certificates) -> Object:
    return {
        "client-certificate-data": _data(certificates.admin),
        "client-key-data": _data(certificates.admin_key),
    }


def _data(path: str) -> str:
    return base64.b64encode(read(path)).decode("ascii")
