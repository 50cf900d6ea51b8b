"""The product's API server as a process of its own, which a test may stop and start again."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys

from crossply.kube.config import ClusterConfig, load_config
from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.ports import free_port

CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", True)
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", False)
DEFINITION = Kind(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False
)


class Server:
    """One server with one data directory, always at the same address."""

    def __init__(self, directory: pathlib.Path, *flags: str) -> None:
        self.directory = directory
        self._flags = flags
        self._port = free_port()
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> Server:
        command = [CROSSPLY, "apiserver", *self._flags]
        command += ["--data", str(self.directory), "--listen", f"127.0.0.1:{self._port}"]
        with open(self.directory / "server.log", "a") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.startswith("ready: "):
            self.stop()
            raise AssertionError((self.directory / "server.log").read_text())
        return self

    def stop(self, signal_number: int = signal.SIGTERM) -> None:
        if self._process is None:
            return
        self._process.send_signal(signal_number)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process.wait(30)
        self._process = None

    def command(self, name: str, *arguments: str) -> None:
        """Run one of the commands that look after a server's data."""
        line = [CROSSPLY, "apiserver", name, "--data", str(self.directory), *arguments]
        subprocess.run(line, check=True, capture_output=True, timeout=60)

    @property
    def kubeconfig(self) -> str:
        return str(self.directory / "kubeconfig")

    @property
    def config(self) -> ClusterConfig:
        return load_config(self.kubeconfig)


def config_map(name: str, namespace: str = "default", **data: str) -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": {"of": "case"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
