"""Images for Pods: the controllers themselves, a function in two versions, and what holds a Pod together."""

from __future__ import annotations

import functools
import io
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile

from crossply.values import Object, yaml
from crossply.xpkg import media_types as media
from crossply.xpkg.blob_content import digest_of, in_memory
from crossply.xpkg.image import Image, Layer
from crossply.xpkg.layer_writer import compressed
from tests.support.container_images import python_image
from tests.support.images import archive, image, member
from tests.support.paths import ROOT, TESTS
from tests.support.programs import path_of

_LEFT_OUT = re.compile(
    r"(^|/)(__pycache__|tests?|mypyc?|pip|setuptools|hypothesis|pygments|rich|grimp|_?pytest|grpc_tools|"
    r"[^/]*__mypyc[^/]*)(/|$)"
)
_PATHS = "PYTHONPATH=/opt/crossply/site:/opt/crossply/src"
_FUNCTION = """
import os, signal, socket
from crossply.compose.function_messages import READY_TRUE, Resource, Response, State
from crossply.functions.server import FunctionServer, ServerSettings

def run(request):
    before = request.observed.resources.get("one")
    # Who made it stays who made it, so that an XR comes to rest.
    pod = (before.object.get("data") or {{}}).get("pod") if before else None
    data = {{"version": "{version}", "pod": pod or socket.gethostname()}}
    made = Resource({{"apiVersion": "v1", "kind": "ConfigMap", "data": data}}, ready=READY_TRUE)
    desired = State(request.desired.composite, {{**request.desired.resources, "one": made}})
    return Response(desired, context=request.context)

signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGTERM}})
server = FunctionServer("tell", run, ServerSettings(":9443", certificates=os.environ["TLS_SERVER_CERTS_DIR"]))
print("serving", flush=True)
signal.sigwait({{signal.SIGTERM}})
server.stop()
"""


@functools.cache
def base() -> Image:
    """This Python and the product."""
    result = python_image()
    return with_layer(result, _product(), Env=["PATH=/usr/bin", _PATHS, "PYTHONDONTWRITEBYTECODE=1"])


def controllers() -> Image:
    """What the chart's Deployment runs."""
    entry = [os.path.realpath(sys.executable), "-m", "crossply.cli"]
    return configured(base(), Entrypoint=entry, Cmd=["controller"], User="65532:65532")


def function(version: str) -> Image:
    """A package and its runtime in one image."""
    meta: Object = {
        "apiVersion": "meta.pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {"name": "function-tell"},
    }
    program = archive([member("function.py", _FUNCTION.format(version=version).encode(), mode=0o644)])
    stream = archive([member("package.yaml", yaml.dump_all([meta]).encode(), mode=0o644)])
    result = with_layer(with_layer(base(), program), stream, purpose=media.BASE)
    entry = [os.path.realpath(sys.executable), "-u", "/function.py"]
    return configured(result, Entrypoint=entry, User="2000:2000", ExposedPorts={"9443/tcp": {}})


def pause(directory: pathlib.Path) -> Image:
    """The image of the process that holds a Pod's namespaces."""
    go = path_of("go")
    program = directory / "pause"
    command = [go, "build", "-trimpath", "-ldflags=-s -w", "-o", str(program), "."]
    source = TESTS / "node" / "pause"
    environ = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}
    subprocess.run(command, cwd=source, env=environ, check=True)
    result = image(archive([member("pause", program.read_bytes(), mode=0o755)]))
    return configured(result, Entrypoint=["/pause"], User="65535:65535")


def with_layer(base_image: Image, plain: bytes, purpose: str = "", **config: object) -> Image:
    """An image with one layer more."""
    layer = Layer(in_memory(compressed(plain)), annotations={media.ANNOTATION: purpose} if purpose else {})
    rootfs = {
        **base_image.config["rootfs"],
        "diff_ids": [*base_image.config["rootfs"]["diff_ids"], digest_of(plain)],
    }
    return configured(Image({**base_image.config, "rootfs": rootfs}, (*base_image.layers, layer)), **config)


def configured(base_image: Image, **config: object) -> Image:
    """An image with other settings."""
    return base_image._replace(
        config={**base_image.config, "config": {**(base_image.config.get("config") or {}), **config}}
    )


def _product() -> bytes:
    buffer, site = io.BytesIO(), sysconfig.get_path("platlib")

    def only_sources(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        entry.uid = entry.gid = 0
        return None if _LEFT_OUT.search(entry.name) else entry

    with tarfile.open(fileobj=buffer, mode="w") as files:
        files.add(ROOT / "src", arcname="opt/crossply/src", filter=only_sources)
        files.add(site, arcname="opt/crossply/site", filter=only_sources)
        for path in _libraries_of(pathlib.Path(site)):
            files.add(os.path.realpath(path), arcname=path)
    return buffer.getvalue()


def _libraries_of(site: pathlib.Path) -> list[str]:
    """What the packages are linked with, beside what they bring."""
    binaries = [str(path) for path in site.rglob("*.so") if not _LEFT_OUT.search(str(path.relative_to(site)))]
    listed = subprocess.run(["ldd", *binaries], capture_output=True, text=True).stdout
    return sorted({path for path in re.findall(r"=> (/\S+) \(0x", listed) if not path.startswith(str(site))})
