"""Functions that others made with their tools: an image by umoci and skopeo around a Go program."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from crossply.containers.failures import ImageMissing
from crossply.containers.image_pull import ALWAYS, NEVER, pull
from crossply.containers.image_store import Store
from crossply.containers.run_to_completion import run_once
from crossply.containers.settings import Settings
from crossply.xpkg.image import encode
from tests.support.container_images import go_image, program
from tests.support.programs import find, require
from tests.support.registry import docker_registry

pytestmark = pytest.mark.xdist_group("containers")

CROSSPLY = os.path.join(os.path.dirname(sys.executable), "crossply")
XR = {"apiVersion": "example.org/v1", "kind": "XThing", "metadata": {"name": "thing"}}
COMPOSITION = {
    "apiVersion": "apiextensions.crossplane.io/v1",
    "kind": "Composition",
    "metadata": {"name": "things"},
    "spec": {
        "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XThing"},
        "mode": "Pipeline",
        "pipeline": [
            {
                "step": "first",
                "functionRef": {"name": "templates"},
                "input": {
                    "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
                    "kind": "GoTemplate",
                    "source": "Inline",
                    "inline": {
                        "template": "apiVersion: v1\nkind: ConfigMap\nmetadata: {annotations: "
                        "{gotemplating.fn.crossplane.io/composition-resource-name: made}}\n"
                    },
                },
            },
            {"step": "second", "functionRef": {"name": "theirs"}},
        ],
    },
}


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    require("docker-registry", "skopeo")
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


@pytest.fixture(scope="module")
def pushed_image(registry: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of an image that no code of ours had a part in, where umoci is installed."""
    directory = tmp_path_factory.mktemp("theirs")
    layout = f"{directory}/layout"
    if find("umoci"):
        (directory / "function").write_bytes(program())
        (directory / "function").chmod(0o755)
        tool("umoci", "init", "--layout", layout)
        tool("umoci", "new", "--image", f"{layout}:v1")
        tool("umoci", "insert", "--image", f"{layout}:v1", f"{directory}/function", "/usr/bin/function")
        for option in ("--config.entrypoint=/usr/bin/function", "--config.user=2000:2000"):
            tool("umoci", "config", "--image", f"{layout}:v1", option)
    else:
        by_hand(directory / "layout")
    name = f"{registry}/someone/function-go:v1"
    tool("skopeo", "copy", "--dest-tls-verify=false", f"oci:{layout}:v1", f"docker://{name}")
    return name


def by_hand(layout: Path) -> None:
    """The same without umoci: the files of a layout."""
    container_image = go_image()
    encoded = encode(container_image)
    blobs = layout / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    for blob in (encoded.manifest, encoded.config, *(layer.blob for layer in container_image.layers)):
        (blobs / blob.digest.partition(":")[2]).write_bytes(blob.open().read())
    described = {
        "mediaType": encoded.media_type,
        "digest": encoded.manifest.digest,
        "size": encoded.manifest.size,
        "annotations": {"org.opencontainers.image.ref.name": "v1"},
    }
    (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [described]}))
    (layout / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')


def tool(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_it_is_fetched_once_and_runs(engine: str, pushed_image: str, tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store"))
    with pytest.raises(
        ImageMissing, match=f"the image {pushed_image} is not here, and its pull policy is Never"
    ):
        asyncio.run(pull(pushed_image, store, NEVER))
    image = asyncio.run(pull(pushed_image, store))
    settings = Settings(engine=engine, arguments=("echo",))
    assert run_once(image, b"hello", settings).stdout == b"hello"
    assert (
        asyncio.run(pull(pushed_image, store, NEVER))
        == image
        == asyncio.run(pull(pushed_image, store, ALWAYS))
    )
    assert sorted(os.listdir(store.directory)) == ["images", "names"], "what was pulled is unpacked and gone"


def test_it_renders_without_docker(engine: str, pushed_image: str, tmp_path: Path) -> None:
    functions = [
        {"name": "templates", "package": "example.org/crossplane-contrib/function-go-templating:v1"},
        {"name": "theirs", "package": pushed_image},
    ]
    documents = {
        "xr.yaml": [XR],
        "composition.yaml": [COMPOSITION],
        "functions.yaml": [
            {
                "apiVersion": "pkg.crossplane.io/v1",
                "kind": "Function",
                "metadata": {"name": function["name"]},
                "spec": {"package": function["package"]},
            }
            for function in functions
        ],
    }
    for name, objects in documents.items():
        (tmp_path / name).write_text(yaml.safe_dump_all(objects))
    environ = {
        **os.environ,
        "DOCKER_HOST": "unix:///nowhere",
        "CROSSPLY_CONTAINER_ENGINE": engine,
        "CROSSPLY_CONTAINER_STORE": str(tmp_path / "store"),
    }
    done = subprocess.run(
        [CROSSPLY, "render", *documents], cwd=tmp_path, env=environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert [obj["kind"] for obj in yaml.safe_load_all(done.stdout)] == ["XThing", "ConfigMap"]
