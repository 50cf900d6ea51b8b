"""What the container of a revision is run with: a RuntimeConfig of ours, or a DeploymentRuntimeConfig."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import orjson

from crossply.compose.object_metadata import annotations_of
from crossply.containers.settings import Settings
from crossply.control.definitions.container_config_crd import ANNOTATION, CONTAINER_CONFIG
from crossply.control.runtimes.runtime_config_selection import NoRuntimeConfig, RuntimeConfigs
from crossply.kinds.fields import Fields, KindError
from crossply.kube.informer import Informer
from crossply.values import Object
from crossply.values.quantity import QuantityError, parse

_CONTAINER = "package-runtime"


class ContainerChoice(NamedTuple):
    """How one container is run."""

    settings: Settings
    warm: bool = False
    """Whether it is started before the first call."""


class ContainerSettings:
    """Chooses by what caches have."""

    def __init__(self, configs: Informer, deployment_configs: RuntimeConfigs) -> None:
        self._configs = configs
        self._deployment_configs = deployment_configs

    def of(self, revision: Object) -> ContainerChoice:
        """How the container of a revision is run; raises what is not there or cannot be understood."""
        name = _named(revision)
        if not name:
            return read_deployment_config(self._deployment_configs.of(revision).spec)
        data = self._configs.get("", name)
        if data is None:
            message = f'{CONTAINER_CONFIG.kind}.{CONTAINER_CONFIG.group} "{name}" not found'
            raise NoRuntimeConfig(f"cannot get referenced runtime config: {message}")
        return read_config(orjson.loads(data).get("spec"))

    def deployment_spec(self, revision: Object) -> Object:
        """The spec of a revision's DeploymentRuntimeConfig; empty where it has a RuntimeConfig of ours."""
        return {} if _named(revision) else self._deployment_configs.of(revision).spec


def _named(revision: Object) -> str:
    """The RuntimeConfig of ours that a revision names; empty for none."""
    annotated = annotations_of(revision).get(ANNOTATION, "")
    reference = revision["spec"].get("runtimeConfigRef") or {}
    is_container_config = reference.get("kind") == CONTAINER_CONFIG.kind
    return annotated or (str(reference.get("name") or "") if is_container_config else "")


def read_config(spec: object) -> ContainerChoice:
    """What the spec of a RuntimeConfig says."""
    try:
        fields = Fields(spec, "spec")
        settings = _limited(Settings(), fields.object("limits"))
        return ContainerChoice(_with_rest(settings, fields), bool(fields.flag("warm")))
    except KindError as problem:
        raise NoRuntimeConfig(f"cannot understand the runtime config: {problem}") from None


def read_deployment_config(spec: object) -> ContainerChoice:
    """What the spec of a DeploymentRuntimeConfig says about the container that has the function."""
    try:
        template = Fields(spec, "spec").object("deploymentTemplate").object("spec").object("template")
        for container in template.object("spec").objects("containers"):
            if container.text("name") == _CONTAINER:
                settings = _limited(Settings(), container.object("resources").object("limits"))
                return ContainerChoice(_commanded(settings, container))
    except KindError as problem:
        raise NoRuntimeConfig(f"cannot understand the deployment runtime config: {problem}") from None
    return ContainerChoice(Settings())


def _limited(settings: Settings, limits: Fields) -> Settings:
    result = settings.limits
    if limits.has("memory"):
        result = result._replace(memory=int(_amount(limits, "memory")))
    if limits.has("cpu"):
        result = result._replace(cpu=_amount(limits, "cpu"))
    if limits.has("scratch"):
        result = result._replace(scratch=int(_amount(limits, "scratch")))
    pids = limits.integer("pids")
    if pids is not None:
        result = result._replace(pids=pids)
    # Temporary files are in memory, so that there is never more room for them than that.
    return settings._replace(limits=result._replace(scratch=min(result.scratch, result.memory)))


def _amount(limits: Fields, key: str) -> float:
    try:
        amount = parse(str(limits.raw(key))).as_float()
    except QuantityError as problem:
        raise limits.wrong(str(problem), key) from None
    if amount <= 0:
        raise limits.wrong("must be more than nothing", key)
    return amount


def _with_rest(settings: Settings, fields: Fields) -> Settings:
    idle, start = fields.integer("idleSeconds"), fields.integer("startSeconds")
    return _commanded(settings, fields)._replace(
        network=fields.text("network") or settings.network,
        idle_seconds=settings.idle_seconds if idle is None else float(idle),
        start_seconds=settings.start_seconds if start is None else float(start),
    )


def _commanded(settings: Settings, fields: Fields) -> Settings:
    """Arguments and environment, which both kinds write in the same way."""
    arguments = fields.texts("args") if fields.has("args") else settings.arguments
    return settings._replace(arguments=arguments, environment=tuple(_variables(fields.objects("env"))))


def _variables(entries: Iterable[Fields]) -> Iterable[str]:
    # A variable whose value comes from elsewhere (`valueFrom`) is for Pods.
    return (f"{entry.text('name')}={entry.text('value')}" for entry in entries if not entry.has("valueFrom"))
