"""Functions in packages that bring their images: pushed to a registry, installed, called in containers."""

from __future__ import annotations

from typing import Any

from crossply.values import Object, yaml
from crossply.xpkg import media_types as media
from crossply.xpkg.image import Image, Layer, append
from crossply.xpkg.image_push import push_image
from crossply.xpkg.image_reference import parse
from crossply.xpkg.layer_writer import Entry, write_layer
from crossply.xpkg.registry_session import Registries
from crossply.xpkg.run_to_completion_image import LABEL, RUNS_TO_COMPLETION
from tests.support.e2e.packages import FUNCTION, HEALTHY, Packages
from tests.support.e2e.scenario import Scenario
from tests.support.script_images import script_image


def packaged(picture: Image, name: str) -> Image:
    """An image with the description of a Function in it."""
    meta: Object = {"apiVersion": "meta.pkg.crossplane.io/v1", "kind": "Function", "metadata": {"name": name}}
    written = write_layer([Entry(media.STREAM_FILE, yaml.dump_all([{**meta, "spec": {}}]).encode())])
    layer = Layer(written.blob, annotations={media.ANNOTATION: media.BASE})
    return append(picture, layer, written.diff_id)


def marking_image(author: str) -> Image:
    """A function that runs to completion and writes its author into all that it receives."""
    labels = {LABEL: RUNS_TO_COMPLETION}
    return script_image(f"""exec busybox sed 's/"by":"nobody"/"by":"{author}"/g'""", Labels=labels)


class InContainers(Packages):
    """Functions of one scenario, in a registry and in containers."""

    def __init__(self, s: Scenario, address: str, name: str = "function-of-ours") -> None:
        super().__init__(s, address)
        self.name = name
        self.function = self.installed_as(name)

    async def push_image(self, picture: Image, tag: str) -> None:
        """Push a version."""
        async with Registries() as registries:
            await push_image(
                registries, packaged(picture, self.name), parse(f"{self.source(self.name)}:{tag}")
            )

    async def running(self, tag: str, **spec: Any) -> Object:
        """Install a version, and wait until its revision runs; the revision."""
        await self.install(FUNCTION, f"{self.name}:{tag}", **spec)
        image = f"{self.source(self.name)}:{tag}"
        revision = await self.revision(FUNCTION, self.function, lambda obj: obj["spec"]["image"] == image)
        await self.s.until(
            FUNCTION,
            self.function,
            lambda obj: HEALTHY(obj) and obj["status"]["currentRevision"] == revision["metadata"]["name"],
        )
        return await self.revision(FUNCTION, self.function)

    def step(self, **fields: Any) -> Object:
        """A step that calls the function."""
        return {"step": "ours", "functionRef": {"name": self.function}, **fields}
