"""Credentials of clients and servers of the real cluster: certificates, tokens and a kubeconfig.

The `openssl` program creates them, with elliptic curves, which take milliseconds.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import subprocess

ADMIN = "admin"
USER = "alice"  # authenticated, in no group, so she may do only what RBAC grants
KCM = "system:kube-controller-manager"

SERVER_NAMES = (
    "IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
)


def make_credentials(directory: str) -> None:
    """Make the certificates and tokens of a cluster, unless an earlier start made them."""
    if os.path.exists(os.path.join(directory, "tokens.csv")):
        return
    os.makedirs(directory, mode=0o700, exist_ok=True)
    _authority(directory, "ca")
    _authority(directory, "front-proxy-ca")
    _certificate(
        directory, "server", "ca", "/CN=kube-apiserver", f"serverAuth\nsubjectAltName={SERVER_NAMES}"
    )
    _certificate(directory, "admin", "ca", "/O=system:masters/CN=certified-admin", "clientAuth")
    _certificate(directory, "front-proxy", "front-proxy-ca", "/CN=front-proxy", "clientAuth")
    _private_key(directory, "service-accounts")
    _openssl(
        "pkey",
        "-in",
        f"{directory}/service-accounts.key",
        "-pubout",
        "-out",
        f"{directory}/service-accounts.pub",
    )
    _tokens(directory)  # the last file: all others are there when it is


def read_tokens(directory: str) -> dict[str, str]:
    """The token of each user."""
    with open(os.path.join(directory, "tokens.csv"), encoding="utf-8") as file:
        rows = [line.split(",") for line in file.read().splitlines()]
    return {row[1]: row[0] for row in rows}


def write_kubeconfig(path: str, url: str, ca_path: str, tokens: dict[str, str], current: str) -> None:
    """A kubeconfig (JSON is YAML) with one context for each user; it holds the CA, so it can be moved."""
    with open(ca_path, "rb") as file:
        authority = base64.b64encode(file.read()).decode()
    cluster = {"server": url, "certificate-authority-data": authority}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "real", "cluster": cluster}],
        "users": [{"name": user, "user": {"token": token}} for user, token in tokens.items()],
        "contexts": [{"name": user, "context": {"cluster": "real", "user": user}} for user in tokens],
        "current-context": current,
    }
    _write_private(path, json.dumps(config, indent=2) + "\n")


def _tokens(directory: str) -> None:
    rows = [
        (ADMIN, "admin-uid", ",system:masters"),
        (KCM, "kcm-uid", ",system:masters"),
        (USER, "alice-uid", ""),
    ]
    lines = [f"{secrets.token_hex(16)},{user},{uid}{groups}\n" for user, uid, groups in rows]
    _write_private(os.path.join(directory, "tokens.csv"), "".join(lines))


def _authority(directory: str, name: str) -> None:
    _private_key(directory, name)
    request = ("req", "-x509", "-new", "-days", "3650", "-subj", f"/CN=crossply-test-{name}")
    _openssl(*request, "-key", f"{directory}/{name}.key", "-out", f"{directory}/{name}.crt")


def _certificate(directory: str, name: str, authority: str, subject: str, usage: str) -> None:
    path = os.path.join(directory, name)
    _private_key(directory, name)
    _write_private(f"{path}.ext", f"extendedKeyUsage={usage}\n")
    _openssl("req", "-new", "-key", f"{path}.key", "-subj", subject, "-out", f"{path}.csr")
    signer = (
        "-CA",
        f"{directory}/{authority}.crt",
        "-CAkey",
        f"{directory}/{authority}.key",
        "-CAcreateserial",
    )
    _openssl(
        "x509",
        "-req",
        "-in",
        f"{path}.csr",
        *signer,
        "-days",
        "3650",
        "-out",
        f"{path}.crt",
        "-extfile",
        f"{path}.ext",
    )


def _private_key(directory: str, name: str) -> None:
    curve = ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    _openssl("genpkey", *curve, "-out", f"{directory}/{name}.key")  # openssl writes keys with mode 0600


def _openssl(*arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"openssl {arguments[0]} failed: {done.stderr.strip()}")


def _write_private(path: str, text: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
