"""A family of providers to make packages of: its repository, its base images, and what comes of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from crossply.xpkg.image import Image
from crossply.xpkg.image_pull import ResolvedImage, manifest, pull_image
from crossply.xpkg.image_reference import parse
from crossply.xpkg.package_stream_extraction import stream_of
from crossply.xpkg.package_yaml import Package, read
from crossply.xpkg.registry_session import Registries
from tests.support.images import archive, image, member
from tests.support.programs import needs

real = needs("docker-registry")
PLATFORMS = ("linux_amd64", "linux_arm64")
TEMPLATE = """\
apiVersion: meta.pkg.crossplane.io/v1
kind: Provider
metadata:
  name: {{ .Name }}
  annotations:
    service: {{ .Service }}
    colour: {{ .colour }}
spec:
  dependsOn:
  - provider: registry.test/team/provider-family-sky
    version: ">= 0.0.0"
"""


def crd(kind: str, group: str) -> str:
    plural = f"{kind.lower()}s"
    return (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        f"metadata: {{name: {plural}.{group}}}\n"
        f"spec: {{group: {group}, scope: Cluster, names: {{kind: {kind}, plural: {plural}}}, versions: []}}\n"
    )


def base(architecture: str) -> Image:
    result = image(archive([member("etc/base", architecture.encode())]))
    inner = {"Entrypoint": ["/usr/local/bin/provider"], "User": "65532"}
    return result._replace(config={**result.config, "architecture": architecture, "config": inner})


def write_family(root: Path) -> None:
    """A template, CRDs of two services, examples of one, programs of both."""
    files = {
        "package/crossplane.yaml.tmpl": TEMPLATE,
        "package/crds/moon.sky.test_craters.yaml": crd("Crater", "moon.sky.test"),
        "package/crds/deeper/moon.sky.test_seas.yaml": crd("Sea", "moon.sky.test"),
        "package/crds/moonshine.sky.test_rays.yaml": crd("Ray", "moonshine.sky.test"),
        "package/crds/sun.sky.test_spots.yaml": crd("Spot", "sun.sky.test"),
        "package/crds/sun.README.md": "no YAML",
        "examples/moon/crater.yaml": "apiVersion: moon.sky.test/v1\nkind: Crater\nmetadata: {name: big}\n",
        **{
            f"bin/{platform}/{name}": f"{name} {platform}"
            for platform in PLATFORMS
            for name in ("moon", "sun")
        },
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def words(address: str, repository: str = "team") -> list[str]:
    return [
        "batch",
        f"--family-base-image={address}/team/base:v1",
        "--provider-name=provider-sky",
        f"--family-package-url-format={address}/{repository}/%s:v1.0.0",
        "--provider-bin-root=bin",
        "--template-var=colour=grey",
    ]


def resolve_image(text: str) -> ResolvedImage:
    async def main() -> ResolvedImage:
        async with Registries() as registries:
            return await manifest(registries, parse(text))

    return asyncio.run(main())


def pulled(text: str, directory: Path, architecture: str = "") -> Image:
    directory.mkdir(exist_ok=True)

    async def main() -> Image:
        async with Registries() as registries:
            return (await pull_image(registries, parse(text), str(directory), architecture)).image

    return asyncio.run(main())


def package_of(package_image: Image) -> Package:
    return read(stream_of(package_image))


def kinds(package_image: Image) -> list[str]:
    return [obj["spec"]["names"]["kind"] for obj in package_of(package_image).objects]
