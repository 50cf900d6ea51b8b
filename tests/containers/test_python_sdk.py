"""A function written with the published Python SDK: packaged from its directory, run in containers."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.containers.failures import OutOfMemory
from crossply.containers.image_store import Store, StoredImage
from crossply.containers.served_container import ServedContainer
from crossply.containers.settings import MEBIBYTE, Limits, Settings
from crossply.functions.failures import FunctionError, FunctionUnavailable
from crossply.functions.remote import Remote
from crossply.xpkg.archive_reader import read_archive
from crossply.xpkg.archive_writer import write_archive
from crossply.xpkg.image import digest
from tests.support.container_images import python_image

pytestmark = pytest.mark.xdist_group("containers")

CROSSPLY = os.path.join(os.path.dirname(sys.executable), "crossply")
CACHE = Path(__file__).parents[2] / ".cache" / "containers"
PROJECT = {
    "crossplane.yaml": """\
apiVersion: meta.pkg.crossplane.io/v1
kind: Function
metadata:
  name: function-greeter
spec: {}
""",
    "src/pyproject.toml": """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "function-greeter"
version = "0.1.0"
dependencies = ["crossplane-function-sdk-python"]
[project.scripts]
function = "greeter.main:main"
[tool.hatch.build.targets.wheel]
packages = ["greeter"]
""",
    "src/greeter/__init__.py": "",
    "src/greeter/main.py": '''\
"""As its author writes it."""
import os
import sys

from crossplane.function import resource, response, runtime
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class Greeter(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(self, request, _):
        answer = response.to(request)
        name = resource.struct_to_dict(request.observed.composite.resource)["spec"]["name"]
        if name == "hog":
            kept = [bytearray(os.urandom(1 << 20) * 16) for _ in range(4096)]
        resource.update(answer.desired.resources["greeting"], {"kind": "Greeting", "spec": {"text": name}})
        return answer


def main():
    insecure = "--insecure" in sys.argv
    certificates = None if insecure else runtime.load_credentials(os.environ["TLS_SERVER_CERTS_DIR"])
    runtime.serve(Greeter(), "0.0.0.0:9443", creds=certificates, insecure=insecure)
''',
}


@pytest.fixture(scope="module")
def greeter(store: Store, tmp_path_factory: pytest.TempPathFactory) -> StoredImage:
    """The package, built once and cached until its project changes."""
    identity = hashlib.sha256(repr((PROJECT, sys.version)).encode()).hexdigest()[:16]
    package = CACHE / f"greeter-{identity}.xpkg"
    if not package.exists():
        build(tmp_path_factory.mktemp("greeter"), package)
    package_image = read_archive(str(package))
    return store.add(package_image, digest(package_image))


def build(directory: Path, package: Path) -> None:
    for name, content in PROJECT.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(content)
    write_archive(python_image(), str(directory / "python.tar"))
    CACHE.mkdir(parents=True, exist_ok=True)
    new = f"{package}.{os.getpid()}"
    command = [CROSSPLY, "xpkg", "build", f"--package-root={directory}", "--python-project=src"]
    command += [f"--embed-runtime-image-tarball={directory}/python.tar", f"--package-file={new}"]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    if done.returncode and "pip" in done.stderr:
        pytest.skip(f"NOT TESTED WITH THE PUBLISHED SDK IN CONTAINERS: it cannot be had: {done.stderr}")
    assert done.returncode == 0, done.stderr
    os.replace(new, package)


@pytest.fixture
def container(engine: str, greeter: StoredImage, certificates: Path) -> Iterator[ServedContainer]:
    settings = Settings(
        engine=engine,
        limits=Limits(memory=256 * MEBIBYTE),
        tls_certificates=str(certificates / "server"),
    )
    served = ServedContainer("greeter", greeter, settings)
    yield served
    served.close()


def greeting(container: ServedContainer, name: str, certificates: Path | None) -> object:
    request = Request(State(Resource({"kind": "XR", "spec": {"name": name}})), State(None))
    remote = Remote("greeter", container.target(30), str(certificates) if certificates else None)
    try:
        desired = remote(request, 20.0 if certificates else 1.0).desired
        assert desired is not None
        return desired.resources["greeting"].object["spec"]["text"]
    except FunctionUnavailable:
        container.raise_if_exited(within=5)
        raise
    finally:
        remote.close()


def test_it_is_called_over_mutual_tls_and_limited_in_memory(
    container: ServedContainer, certificates: Path
) -> None:
    client = certificates / "client"
    assert greeting(container, "you", client) == "you"
    with pytest.raises(FunctionError):
        greeting(container, "nobody", None)
    with pytest.raises(OutOfMemory, match="the function was killed: it exceeded its 256 MiB"):
        greeting(container, "hog", client)
    assert greeting(container, "again", client) == "again"
