"""A project to make packages of: its files, and the images that its functions are put on."""

from __future__ import annotations

from pathlib import Path

from crossply.xpkg import media_types as media
from crossply.xpkg.image import Image
from crossply.xpkg.image_push import push_images
from crossply.xpkg.image_reference import parse
from crossply.xpkg.registry_session import Registries
from tests.support.images import STREAM, archive, image, member

ARCHITECTURES = ("amd64", "arm64")
XRD = """\
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: shops.acme.test}
spec:
  group: acme.test
  names: {kind: Shop, plural: shops}
  versions: []
"""
COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: shops}
spec:
  compositeTypeRef: {apiVersion: acme.test/v1, kind: Shop}
  mode: Pipeline
  pipeline:
  - step: greet
    functionRef: {name: acme-platform_greet}
"""
OPERATION = """\
apiVersion: ops.crossplane.io/v1alpha1
kind: Operation
metadata: {name: tidy}
spec: {mode: Pipeline, pipeline: []}
"""
PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "greet"
version = "0.1.0"
[project.scripts]
function = "function.main:cli"
[tool.hatch.build.targets.wheel]
packages = ["function"]
"""
FILES = {
    "apis/shops/definition.yaml": XRD,
    "apis/shops/composition.yaml": COMPOSITION,
    "apis/crossplane.yaml": "kind: Other\n",
    "operations/tidy.yaml": OPERATION,
    "examples/shop.yaml": "apiVersion: acme.test/v1\nkind: Shop\nmetadata: {name: corner}\n",
    "functions/.gitkeep": "",
}
PYTHON = {
    "functions/greet/pyproject.toml": PYPROJECT,
    "functions/greet/function/__init__.py": "",
    "functions/greet/function/main.py": "def cli():\n    return 7\n",
}
SCRIPT = {
    "functions/hello/main.py": "from crossply.sdk import function\nfrom words import WORDS\n\n\n"
    "@function\ndef compose(req, rsp):\n    rsp.normal(WORDS)\n",
    "functions/hello/words.py": 'WORDS = "hello from a file"\n',
    "functions/hello/requirements.txt": "# what it needs\nacme-words>=1.0  # for a start\n",
    "functions/hello/.venv/x": "",
}
TEMPLATES = {
    "functions/draw/one.gotmpl": "kind: One\n",
    "functions/draw/more/two.tmpl": "kind: Two\n",
}


def write_project(root: Path, registry: str, files: dict[str, str], more: str = "") -> None:
    """A project in a repository of a registry that also has the images its functions are put on."""
    text = f"""\
apiVersion: dev.crossplane.io/v1alpha1
kind: Project
metadata:
  name: platform
  labels: {{team: a}}
spec:
  repository: {registry}/acme/platform
  maintainer: Ada
  imageConfigs:
  - metadata: {{name: mirror}}
    spec:
      matchImages: [{{prefix: gcr.io/}}, {{prefix: xpkg.crossplane.io/}}]
      rewriteImage: {{prefix: "{registry}/mirror/"}}
  dependencies:
  - type: xpkg
    xpkg:
      apiVersion: pkg.crossplane.io/v1
      kind: Function
      package: registry.test/crossplane-contrib/function-auto-ready
      version: ">=v0.5.0"
  - type: xpkg
    xpkg: {{apiVersion: pkg.crossplane.io/v1, kind: Provider, package: p, version: v1, apiOnly: true}}
  - type: k8s
    k8s: {{version: v1.33.0}}
{more}"""
    for name, content in {"crossplane-project.yaml": text, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def runtime(architecture: str) -> Image:
    """An image that could be that of a published function: a package, too."""
    layers = (archive([member("bin/run", architecture.encode())]), archive([member("package.yaml", STREAM)]))
    result = image(*layers, purposes=["", media.BASE])
    inner = {"Env": ["PATH=/bin"], "User": "65532"}
    return result._replace(config={**result.config, "architecture": architecture, "config": inner})


async def push_bases(registry: str) -> None:
    """Have a registry mirror the images that functions are put on."""
    images = [runtime(architecture) for architecture in ARCHITECTURES]
    async with Registries() as registries:
        for name in (
            "distroless/python3-debian13:nonroot",
            "crossplane-contrib/function-go-templating:v0.12.0",
        ):
            await push_images(registries, images, parse(f"{registry}/mirror/{name}"), {})
