"""The two servers that the suite runs against, and their properties."""

from __future__ import annotations

import contextlib
import os
import pathlib
import secrets
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.cluster.real_cluster import ENVIRONMENT, RealCluster


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    kind: str
    url: str
    ca: str
    token: str
    """Of an administrator, who is in the group system:masters."""
    user_token: str
    """Of the user `alice`, to whom nothing was granted."""
    kubeconfig: str
    certificate: tuple[str, str] | None = None
    """A certificate of the group system:masters and its key."""


@contextlib.contextmanager
def embedded(directory: pathlib.Path) -> Iterator[Server]:
    """The product, started as a user would start it."""
    user_token = secrets.token_hex(16)
    tokens = directory / "tokens.csv"
    tokens.write_text(f"{user_token},alice,alice-uid\n")
    command = [str(pathlib.Path(sys.executable).parent / "crossply"), "apiserver", "--in-memory"]
    command += ["--data", str(directory), "--listen", "127.0.0.1:0", "--token-file", str(tokens)]
    with open(directory / "server.log", "w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("ready: "), (directory / "server.log").read_text()
        yield Server(
            kind="embedded",
            url=line.removeprefix("ready: ").strip(),
            ca=str(directory / "pki" / "ca.crt"),
            token=(directory / "admin.token").read_text().strip(),
            user_token=user_token,
            kubeconfig=str(directory / "kubeconfig"),
            certificate=_certificate(directory / "pki"),
        )
    finally:
        process.terminate()
        process.stdout.close()
        process.wait(30)


def _certificate(pki: pathlib.Path) -> tuple[str, str] | None:
    pair = pki / "admin.crt", pki / "admin.key"
    return (str(pair[0]), str(pair[1])) if pair[0].exists() else None


@contextlib.contextmanager
def real(directory: pathlib.Path) -> Iterator[Server]:
    """A real kube-apiserver: the one that the run was given, or one for this run alone."""
    configured = os.environ.get(ENVIRONMENT)
    with (
        contextlib.nullcontext(RealCluster.attach(configured))
        if configured
        else RealCluster(str(directory)) as cluster
    ):
        yield Server(
            kind="real",
            url=cluster.url,
            ca=cluster.ca_path,
            token=cluster.token,
            user_token=cluster.user_token,
            kubeconfig=cluster.kubeconfig,
            certificate=cluster.client_certificate,
        )
