"""A control plane with every failure that `explain` explains."""

from __future__ import annotations

import asyncio
import pathlib
import sys
from typing import Any

from crossply.cli.main import main
from crossply.kube.discovery import Discovery, UnknownKind
from crossply.kube.failures import KubeError
from crossply.values import Object
from tests.support.cli.local_provider import client_of, provider, write_provider
from tests.support.cli.up_process import Plane
from tests.support.patience import PATIENCE

GROUP = "failures.example.org"
EXTENSIONS = "apiextensions.crossplane.io"
_BROKEN = 'import sys\nprint("no such database: orders", flush=True)\nsys.exit(3)\n'
TEMPLATE = """
apiVersion: {api_version}
kind: {kind}
metadata:
  annotations: {{gotemplating.fn.crossplane.io/composition-resource-name: {name}}}
{fields}
"""


def composing(kind: str, api_version: str = f"{GROUP}/v1", name: str = "part", fields: str = "") -> str:
    return TEMPLATE.format(api_version=api_version, kind=kind, name=name, fields=fields)


def definition(kind: str, **spec: Any) -> Object:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"port": {"type": "integer"}}}},
    }
    version = {"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": schema}}
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": f"{EXTENSIONS}/v2",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [version],
            **spec,
        },
    }


def composition(kind: str, template: str, name: str = "") -> Object:
    source = {"apiVersion": "gotemplating.fn.crossplane.io/v1beta1", "kind": "GoTemplate", "source": "Inline"}
    step = {"step": "compose", "functionRef": {"name": "function-go-templating"}}
    step["input"] = {**source, "inline": {"template": template}}
    type_ref = {"apiVersion": f"{GROUP}/v1", "kind": kind}
    return {
        "apiVersion": f"{EXTENSIONS}/v1",
        "kind": "Composition",
        "metadata": {"name": name or kind.lower()},
        "spec": {"compositeTypeRef": type_ref, "mode": "Pipeline", "pipeline": [step]},
    }


def xr(kind: str, name: str = "mine", **spec: Any) -> Object:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata, "spec": spec}


def server_kind() -> Object:
    """A CRD that admits ports only."""
    port = {"type": "integer", "maximum": 65535}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"port": port}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"servers.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {"kind": "Server", "plural": "servers"},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def manifests(directory: pathlib.Path) -> list[Object]:
    """The four scenarios, each an XR of its own kind."""
    write_provider(directory)
    (directory / "main.py").write_text(_BROKEN)
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "notes", "namespace": "default"},
    }
    function = {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {"name": "function-go-templating"},
    }
    port = "spec: {port: {{ .observed.composite.resource.spec.port }}}"
    return [
        {
            **function,
            "spec": {"package": "xpkg.crossplane.io/crossplane-contrib/function-go-templating:v0.11.0"},
        },
        provider(directory, f"{sys.executable} main.py"),
        server_kind(),
        account,
        definition("Site"),
        composition("Site", composing("Server", name="server", fields=port)),
        definition("Check"),
        composition("Check", '{{ fail "no such region: mars" }}'),
        definition("Note", serviceAccountRef={"namespace": "default", "name": "notes"}),
        composition("Note", composing("ConfigMap", "v1", "note")),
        definition("Order"),
        composition("Order", composing("Thing", "try.example.org/v1", "thing")),
        xr("Site", port=70000),
        xr("Check"),
        xr("Note"),
        xr("Order"),
    ]


class FailureScenarios:
    """A control plane, and `crossply explain` as its user runs it."""

    def __init__(self, plane: Plane, capsys: Any, monkeypatch: Any) -> None:
        self._plane = plane
        self._capsys = capsys
        monkeypatch.setenv("KUBECONFIG", str(plane.data / "kubeconfig"))

    def explain(self, *words: str) -> str:
        """What it prints."""
        assert main(["explain", *words]) == 0
        return str(self._capsys.readouterr().out)

    def explain_until(self, sentence: str, *words: str) -> str:
        """What it prints, once it has a sentence."""
        from tests.support.cli.up_process import eventually

        printed = [""]

        def has_it() -> bool:
            printed[0] = self.explain(*words)
            return sentence in printed[0]

        try:
            eventually(has_it)
        except AssertionError:
            raise AssertionError(f"not within {PATIENCE} s: {sentence}\n{printed[0]}") from None
        return printed[0]

    def apply(self, *objects: Object) -> None:
        asyncio.run(apply(self._plane.data, list(objects)))


async def apply(data: pathlib.Path, objects: list[Object]) -> None:
    """Apply objects in their order, each once its kind is served."""
    async with client_of(data) as client:
        discovery = Discovery(client)
        for obj in objects:
            async with asyncio.timeout(60):
                while True:
                    try:
                        kind = await discovery.kind_for(obj["apiVersion"], obj["kind"])
                        await client.apply(kind, obj, "test")
                        break
                    except (KubeError, UnknownKind):  # a kind created just now may not be served yet
                        await asyncio.sleep(0.1)
