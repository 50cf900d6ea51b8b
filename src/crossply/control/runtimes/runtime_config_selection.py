"""What a revision is run with: its DeploymentRuntimeConfig, its image, and what ImageConfigs add to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import orjson

from crossply.compose.object_metadata import annotations_of
from crossply.control.kinds import RUNTIME_CONFIG
from crossply.control.package_manager.package_fetcher import DIGEST
from crossply.errors import CrossplyError
from crossply.kube.informer import Informer
from crossply.values import Object
from crossply.xpkg import image_config_selection
from crossply.xpkg.failures import BadReference
from crossply.xpkg.image_reference import parse

DEFAULT = "default"
_CONFIG_REF = ("runtime", "configRef")
_SET_PULL_SECRET = "SetImagePullSecret"


class NoRuntimeConfig(CrossplyError):
    """The runtime config of a package does not exist, or has an unsupported kind."""

    code = "CP-875"
    hint = "create the DeploymentRuntimeConfig that spec.runtimeConfigRef names, or name another one"


class SelectedConfig(NamedTuple):
    """What was chosen for one revision."""

    spec: Object
    """Of the DeploymentRuntimeConfig."""
    image: str
    pull_secrets: tuple[str, ...]


class RuntimeConfigs:
    """Chooses by what two caches have."""

    def __init__(self, configs: Informer, image_configs: Informer) -> None:
        self._configs = configs
        self._image_configs = image_configs

    def of(self, revision: Object) -> SelectedConfig:
        """What a revision is run with; raises what is not there."""
        resolved = (revision.get("status") or {}).get("resolvedImage") or revision["spec"].get("image", "")
        spec = self._spec(_reference(revision, list(self._all_image_configs()), resolved))
        return SelectedConfig(spec, _pinned(resolved, revision), tuple(self._pull_secrets(revision)))

    def _all_image_configs(self) -> Iterator[Object]:
        return (orjson.loads(data) for data in self._image_configs.objects())

    def _spec(self, reference: Object) -> Object:
        if (reference.get("kind") or RUNTIME_CONFIG.kind) != RUNTIME_CONFIG.kind:
            raise NoRuntimeConfig("runtime config is set but is an unknown apiVersion and kind")
        name = reference.get("name") or DEFAULT
        data = self._configs.get("", name)
        if data is not None:
            spec: Object = orjson.loads(data).get("spec") or {}
            return spec
        if name == DEFAULT:
            # It is created empty at the start: a deleted one means the same.
            return {}
        message = f'DeploymentRuntimeConfig.pkg.crossplane.io "{name}" not found'
        raise NoRuntimeConfig(f"cannot get referenced deployment runtime config: {message}")

    def _pull_secrets(self, revision: Object) -> Iterator[str]:
        """Those of the ImageConfigs that the package was pulled with."""
        for reference in (revision.get("status") or {}).get("appliedImageConfigRefs") or ():
            if reference.get("reason") != _SET_PULL_SECRET:
                continue
            data = self._image_configs.get("", reference.get("name", ""))
            if data is None:
                message = f'ImageConfig.pkg.crossplane.io "{reference.get("name", "")}" not found'
                raise NoRuntimeConfig(f"cannot get image pull secret from config: {message}")
            registry = orjson.loads(data)["spec"].get("registry") or {}
            secret = ((registry.get("authentication") or {}).get("pullSecretRef") or {}).get("name")
            if secret:
                yield secret


def _reference(revision: Object, configs: list[Object], image: str) -> Object:
    """An ImageConfig's word counts most, then the package's own."""
    chosen = image_config_selection.select_config(configs, image, _CONFIG_REF)
    if chosen is not None:
        reference: Object = chosen.config["spec"]["runtime"]["configRef"]
        return reference
    return revision["spec"].get("runtimeConfigRef") or {}


def _pinned(image: str, revision: Object) -> str:
    """The image by its digest, where that is known: the tag may stand for something else by now."""
    try:
        reference = parse(image)
    except BadReference as problem:
        kind = revision["kind"].removesuffix("Revision").lower()
        raise NoRuntimeConfig(f"cannot parse {kind} package image: {problem}", hint="") from None
    digest = annotations_of(revision).get(DIGEST, "")
    return str(reference.at(digest) if digest else reference)
