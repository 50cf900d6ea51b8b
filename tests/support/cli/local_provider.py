"""A tiny provider for tests of `crossply up`, and a client of its control plane."""

from __future__ import annotations

import asyncio
import pathlib
import sys
from typing import Any

from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.values.yaml import dump

PROVIDER = Kind("pkg.crossplane.io", "v1", "Provider", "providers", False)
PROVIDER_REVISION = Kind("pkg.crossplane.io", "v1", "ProviderRevision", "providerrevisions", False)
THING = Kind("try.example.org", "v1", "Thing", "things", True)

META: Object = {
    "apiVersion": "meta.pkg.crossplane.io/v1",
    "kind": "Provider",
    "metadata": {"name": "provider-try"},
    "spec": {},
}
SCRIPT = """
import asyncio, os, sys
from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.kind import Kind
THING = Kind("try.example.org", "v1", "Thing", "things", True)
SECRET = Kind("", "v1", "Secret", "secrets", True)

async def main():
    print("pid", os.getpid(), os.environ["PROVIDER_NAME"], os.getcwd(), flush=True)
    async with Client(load_config()) as client:
        while True:
            for name in ("tls.crt", "tls.key", "ca.crt"):
                assert os.path.getsize(os.path.join(os.environ["TLS_SERVER_CERTS_DIR"], name))
            await client.list(SECRET)
            thing = await client.get(THING, "one", "default")
            if thing is not None and not thing.get("status"):
                await client.update_status(THING, {**thing, "status": {"by": os.environ["REVISION_NAME"]}})
            await asyncio.sleep(0.1)

asyncio.run(main())
"""


def definition(description: str = "", **spec: Any) -> Object:
    """The CRD of Things."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "description": description}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.try.example.org"},
        "spec": {
            "group": "try.example.org",
            "names": {"kind": "Thing", "plural": "things"},
            "scope": "Namespaced",
            "versions": [version],
            **spec,
        },
    }


def write_provider(directory: pathlib.Path, description: str = "first") -> None:
    """The directory of the provider."""
    (directory / "package" / "crds").mkdir(parents=True, exist_ok=True)
    (directory / "crossplane.yaml").write_text(dump(META))
    (directory / "package" / "crds" / "things.yaml").write_text(dump(definition(description)))
    (directory / "main.py").write_text(SCRIPT)


def provider(
    directory: pathlib.Path, command: str = f"{sys.executable} main.py", name: str = "provider-try"
) -> Object:
    """The Provider that runs it."""
    return {
        "apiVersion": PROVIDER.api_version,
        "kind": "Provider",
        "metadata": {
            "name": name,
            "annotations": {"crossply.dev/directory": str(directory), "crossply.dev/command": command},
        },
        "spec": {"package": f"registry.example.org/{name}:v1"},
    }


def thing(name: str = "one") -> Object:
    return {
        "apiVersion": THING.api_version,
        "kind": "Thing",
        "metadata": {"name": name, "namespace": "default"},
    }


def client_of(data: pathlib.Path) -> Client:
    """A client for the control plane of a data directory."""
    return Client(load_config(str(data / "kubeconfig")))


def condition(obj: Object | None, kind: str) -> tuple[str, str]:
    """The status and message of a condition."""
    for known in ((obj or {}).get("status") or {}).get("conditions") or ():
        if known["type"] == kind:
            return known["status"], known.get("message", "")
    return "", ""


async def until(read: Any, seconds: float = 60.0) -> Any:
    """Wait until a coroutine gives something."""
    async with asyncio.timeout(seconds):
        while not (result := await read()):
            await asyncio.sleep(0.05)
    return result
