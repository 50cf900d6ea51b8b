"""How long an ordinary composite resource waits while another one, or a package, asks for far too much.

For each load it prints the median and the longest time from an edit of a small composite resource until its
ConfigMap is updated, and the most memory that the controllers and the API server had.
BENCH_SECONDS sets how long each load is watched (20).
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import http.server
import io
import json
import os
import statistics
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from control_servers import Running, embedded
from control_workload import COMPOSITION, CONFIG_MAP, DEFINITION, FUNCTION, GROUP, NAMESPACE
from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind
from crossply.values import Object
from processes import used

SECONDS = float(os.environ.get("BENCH_SECONDS", "20"))
MANY = (2_000, 20_000)
PATCHES = 400
LARGE_BYTES = 600_000
BOMB_BYTES = 190 << 20
CONFIGURATION = Kind("pkg.crossplane.io", "v1", "Configuration", "configurations", False)
PACKAGES = "xpkg.crossplane.io/crossplane-contrib"


def object_of(kind: Kind, name: str, **spec: Any) -> Object:
    metadata = {"name": name, **({"namespace": NAMESPACE} if kind.namespaced else {})}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}


def xr_kind(name: str) -> Kind:
    return Kind(GROUP, "v1", name, f"{name.lower()}s", True)


SMALL, WIDE, PATCHED = xr_kind("Small"), xr_kind("Wide"), xr_kind("Patched")


async def define(client: Client, kind: Kind, function: str, inputs: Object) -> None:
    spec = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    version = {"name": "v1", "served": True, "referenceable": True, "schema": schema}
    names = {"kind": kind.kind, "plural": kind.plural}
    definition = object_of(
        DEFINITION, kind.resource, group=GROUP, names=names, scope="Namespaced", versions=[version]
    )
    step = {"step": "compose", "functionRef": {"name": function}, "input": inputs}
    type_ = {"apiVersion": kind.api_version, "kind": kind.kind}
    composition = object_of(
        COMPOSITION, kind.plural, compositeTypeRef=type_, mode="Pipeline", pipeline=[step]
    )
    await client.apply(DEFINITION, definition, "bench")
    await client.apply(COMPOSITION, composition, "bench")


def patches_of(count: int, field: str) -> Object:
    base = {"apiVersion": "v1", "kind": "ConfigMap", "data": {}}
    patches = [
        {"type": "FromCompositeFieldPath", "fromFieldPath": field, "toFieldPath": f"data.copy{number}"}
        for number in range(count)
    ]
    resource = {"name": "one", "base": base, "patches": patches, "readinessChecks": [{"type": "None"}]}
    return {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": [resource]}


def template_of_many() -> Object:
    template = (
        "{{ range until (int .observed.composite.resource.spec.count) }}---\n"
        "apiVersion: v1\nkind: ConfigMap\n"
        "metadata:\n  annotations:\n    gotemplating.fn.crossplane.io/composition-resource-name: n{{ . }}\n"
        '    gotemplating.fn.crossplane.io/ready: "True"\n{{ end }}'
    )
    return {
        "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
        "kind": "GoTemplate",
        "source": "Inline",
        "inline": {"template": template},
    }


async def install(client: Client) -> None:
    for name, version in (("patch-and-transform", "v0.10.0"), ("go-templating", "v0.11.0")):
        package = f"{PACKAGES}/function-{name}:{version}"
        await client.apply(FUNCTION, object_of(FUNCTION, f"function-{name}", package=package), "bench")
    await define(client, SMALL, "function-patch-and-transform", patches_of(1, "spec.size"))
    await define(client, WIDE, "function-go-templating", template_of_many())
    await define(client, PATCHED, "function-patch-and-transform", patches_of(PATCHES, "spec.large"))
    for kind in (SMALL, WIDE, PATCHED):
        await applied(client, object_of(kind, "probe", size="first", count=1, large="x"), kind)
    await followed(client, "first")


async def applied(client: Client, obj: Object, kind: Kind) -> None:
    """Apply, once the kind is served."""
    while True:
        try:
            await client.apply(kind, obj, "bench")
            return
        except KubeError as problem:
            if problem.status != 404:
                raise
            await asyncio.sleep(0.1)


async def followed(client: Client, size: str) -> None:
    sought = f'"copy0":"{size}"'.encode()
    while True:
        listed = await client.list(CONFIG_MAP, NAMESPACE, label_selector="crossplane.io/composite=probe")
        if any(sought in data for data in listed.items):
            return
        await asyncio.sleep(0.02)


async def edits(client: Client, until: float) -> list[float]:
    """How long each edit took until it was followed; the last one may be cut short."""
    took = []
    while (began := time.perf_counter()) < until:
        size = f"n{len(took)}-{began}"
        await client.apply(SMALL, object_of(SMALL, "probe", size=size, count=1, large="x"), "bench")
        try:
            await asyncio.wait_for(followed(client, size), max(until - began, 1) + 60)
        except TimeoutError:
            return [*took, time.perf_counter() - began]
        took.append(time.perf_counter() - began)
    return took


async def most_memory(running: Running, finished: asyncio.Event) -> dict[str, float]:
    most = dict.fromkeys(running.processes, 0.0)
    while not finished.is_set():
        for name, pid in running.processes.items():
            most[name] = max(most[name], used(pid).rss)
        await asyncio.sleep(0.1)
    return most


async def measure(
    client: Client, running: Running, name: str, load: Object | None, kind: Kind | None
) -> None:
    finished = asyncio.Event()
    memory = asyncio.create_task(most_memory(running, finished))
    if load is not None and kind is not None:
        await client.apply(kind, load, "bench")
    took = await edits(client, time.perf_counter() + SECONDS)
    finished.set()
    most = ", ".join(f"{part} {rss:.0f} MiB" for part, rss in (await memory).items())
    print(
        f"{name:32} edits followed {len(took):4}  median {statistics.median(took):7.3f} s  "
        f"longest {max(took):7.3f} s  most memory: {most}",
        flush=True,
    )


@contextmanager
def registry_with_bomb() -> Iterator[str]:
    """A registry on this machine with one package whose layer unpacks to far more than it is."""
    package = io.BytesIO()
    with tarfile.open(fileobj=package, mode="w") as archive:
        entry = tarfile.TarInfo("package.yaml")
        entry.size = BOMB_BYTES
        archive.addfile(entry, io.BytesIO(b"---\n" * (BOMB_BYTES // 4)))
    layer = gzip.compress(package.getvalue(), 9)
    config = json.dumps(
        {"config": {}, "rootfs": {"type": "layers", "diff_ids": [_digest(package.getvalue())]}}
    )
    blobs = {_digest(blob): blob for blob in (layer, config.encode())}
    media = "application/vnd.oci.image"
    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": f"{media}.manifest.v1+json",
            "config": _described(f"{media}.config.v1+json", config.encode()),
            "layers": [
                {
                    **_described(f"{media}.layer.v1.tar+gzip", layer),
                    "annotations": {"io.crossplane.xpkg": "base"},
                }
            ],
        }
    ).encode()

    class Registry(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            last = self.path.rpartition("/")[2]
            body = manifest if "/manifests/" in self.path else blobs.get(last, b"{}")
            self.send_response(200)
            if "/manifests/" in self.path:
                self.send_header("Content-Type", f"{media}.manifest.v1+json")
                self.send_header("Docker-Content-Digest", _digest(manifest))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815 - the name is the library's

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _described(media_type: str, data: bytes) -> Object:
    return {"mediaType": media_type, "digest": _digest(data), "size": len(data)}


async def main() -> None:
    large = object_of(PATCHED, "large", large="x" * LARGE_BYTES)
    loads: list[tuple[str, Object | None, Kind | None]] = [
        ("nothing else", None, None),
        *((f"{count} resources of one XR", object_of(WIDE, "wide", count=count), WIDE) for count in MANY),
        (f"{PATCHES} patches of {LARGE_BYTES // 1000} KB", large, PATCHED),
    ]
    for name, load, kind in loads:
        with embedded() as running:
            async with Client(load_config(running.kubeconfig)) as client:
                await install(client)
                await measure(client, running, name, load, kind)
    with registry_with_bomb() as registry, embedded() as running:
        async with Client(load_config(running.kubeconfig)) as client:
            await install(client)
            bomb = object_of(CONFIGURATION, "bomb", package=f"{registry}/bench/bomb:v1")
            await measure(client, running, f"a package of {BOMB_BYTES >> 20} MiB of ---", bomb, CONFIGURATION)


if __name__ == "__main__":
    asyncio.run(main())
