"""The real Crossplane, built from its published Go module, on a real API server without nodes."""

from __future__ import annotations

import base64
import contextlib
import os
import pathlib
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import orjson

from crossply.kube.client import Client
from crossply.kube.discovery import Discovery
from crossply.values import Object, yaml
from tests.support.e2e.scenario import NAMESPACE as NAMESPACES
from tests.support.paths import CLUSTER
from tests.support.ports import free_port
from tests.support.programs import path_of

HOME = "crossplane-system"
WEBHOOKS = "crossplane-webhooks"
"""The Service in front of Crossplane's webhook server."""
_HOME = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}}
MODULE = "github.com/crossplane/crossplane/v2"
_READY_SECONDS = 180.0
_INIT_ATTEMPTS = 10
_SECRETS = {
    "TLS_CA_SECRET_NAME": "crossplane-root-ca",
    "TLS_SERVER_SECRET_NAME": "crossplane-tls-server",
    "TLS_CLIENT_SECRET_NAME": "crossplane-tls-client",
}
_SERVICE = {
    "WEBHOOK_SERVICE_NAME": WEBHOOKS,
    "WEBHOOK_SERVICE_NAMESPACE": HOME,
    "WEBHOOK_SERVICE_PORT": "9443",
}


def module_directory() -> pathlib.Path:
    """Where the sources of the Crossplane that build.sh builds are: its CRDs and its chart."""
    command = [path_of("go"), "mod", "download", "-json", MODULE]
    done = subprocess.run(command, cwd=CLUSTER / "crossplane", capture_output=True, check=True)
    return pathlib.Path(orjson.loads(done.stdout)["Dir"])


def program() -> str:
    """The program; built where it is not there yet."""
    built = subprocess.run(
        [CLUSTER / "build.sh", "crossplane"], stdout=subprocess.PIPE, text=True, check=True
    )
    return os.path.join(built.stdout.strip(), "crossplane")


class Crossplane:
    """One installation, which can be started and stopped as often as one likes."""

    def __init__(self, kubeconfig: str, directory: pathlib.Path, proxy: str) -> None:
        """`proxy` resolves functions: the names of Services mean nothing here."""
        self._directory = directory
        self._program = program()
        self.sources = module_directory()
        self.webhook_port = free_port()
        self._environment = {
            **os.environ,
            **_SECRETS,
            "KUBECONFIG": kubeconfig,
            "HTTPS_PROXY": proxy,
            "NO_PROXY": "127.0.0.1,localhost",
        }

    def initialize(self) -> None:
        """What its init container does: certificates, CRDs, webhook configurations, the Lock."""
        cluster = self.sources / "cluster"
        paths = {
            "CRDS_PATH": str(cluster / "crds"),
            "WEBHOOK_CONFIGS_PATH": str(cluster / "webhookconfigurations"),
        }
        environment = {**self._environment, **_SERVICE, **paths}
        with open(self._directory / "crossplane-init.log", "ab") as log:
            for _ in range(_INIT_ATTEMPTS):
                command = [self._program, "core", "init"]
                if subprocess.run(command, env=environment, stdout=log, stderr=log).returncode == 0:
                    return
                # It does not wait for its own kinds; a kubelet restarts it.
                time.sleep(2)
        raise AssertionError((self._directory / "crossplane-init.log").read_text()[-4000:])

    async def install_chart(self, client: Client) -> None:
        """What its chart brings, but for what runs on nodes: roles, accounts, empty Secrets, a Service."""
        discovery = Discovery(client)
        await client.apply(NAMESPACES, _HOME, "helm")
        for obj in rendered_chart(self.sources / "cluster/charts/crossplane", "crossplane"):
            if obj["kind"] != "Deployment":
                kind = await discovery.kind_for(obj["apiVersion"], obj["kind"])
                await client.apply(kind, obj, "helm")

    @contextlib.contextmanager
    def running(self, certificates: dict[str, Object]) -> Iterator[None]:
        """From its readiness until SIGTERM; `certificates` are its Secrets, by name."""
        directories = {}
        for variable, secret in (
            ("TLS_SERVER", "crossplane-tls-server"),
            ("TLS_CLIENT", "crossplane-tls-client"),
        ):
            directories[f"{variable}_CERTS_DIR"] = str(self._unpacked(certificates[secret]))
        metrics, health = free_port(), free_port()
        flags = ["--webhook-port", str(self.webhook_port), "--metrics-port", str(metrics)]
        flags += ["--health-probe-port", str(health), "--xpkg-cache-dir", str(self._cache())]
        with open(self._directory / "crossplane.log", "ab") as log:
            process = subprocess.Popen(
                [self._program, "core", "start", *flags],
                env={**self._environment, **directories},
                stdout=log,
                stderr=log,
            )
        try:
            self._wait(process, f"http://127.0.0.1:{health}/readyz")
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)

    def _cache(self) -> pathlib.Path:
        cache = self._directory / "xpkg"
        cache.mkdir(exist_ok=True)
        return cache

    def _unpacked(self, secret: Object) -> pathlib.Path:
        directory = self._directory / secret["metadata"]["name"]
        directory.mkdir(exist_ok=True)
        for name, content in secret["data"].items():
            (directory / name).write_bytes(base64.b64decode(content))
        return directory

    def _wait(self, process: subprocess.Popen[bytes], url: str) -> None:
        until = time.monotonic() + _READY_SECONDS
        while time.monotonic() < until:
            assert process.poll() is None, self.log_tail()
            with contextlib.suppress(urllib.error.URLError, OSError), urllib.request.urlopen(url, timeout=5):
                return
            time.sleep(0.2)
        raise AssertionError(self.log_tail())

    def log_tail(self) -> str:
        """The end of what it wrote."""
        return (self._directory / "crossplane.log").read_text()[-4000:]


def rendered_chart(chart: pathlib.Path, release: str, *flags: str) -> list[Object]:
    """The objects of a chart, as Helm makes them."""
    built = subprocess.run([CLUSTER / "build.sh", "helm"], stdout=subprocess.PIPE, text=True, check=True)
    helm = os.path.join(built.stdout.strip(), "helm")
    command = [helm, "template", release, str(chart), "--namespace", HOME, "--kube-version", "1.36.0", *flags]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [document.value for document in yaml.read_stream(done.stdout) if document.value]
