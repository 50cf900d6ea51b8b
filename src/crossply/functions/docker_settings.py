"""How a function's container is to be run: what the annotations of its Function say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from crossply.functions.failures import RuntimeAnnotationError

PREFIX = "render.crossplane.io/runtime-docker-"

REMOVE, STOP, ORPHAN = "Remove", "Stop", "Orphan"
IF_NOT_PRESENT, ALWAYS, NEVER = "IfNotPresent", "Always", "Never"


class ContainerSettings(NamedTuple):
    """One function's container."""

    function: str
    image: str
    name: str
    """An existing container of this name is used again."""
    cleanup: str
    pull_policy: str
    environment: tuple[str, ...]
    """`KEY=value` each."""
    publish_address: str
    target: str
    """The host to dial, where it is not the address that the port is published at."""
    network: str
    """A network to join; the container is then dialled by its name in it."""


def read_settings(function: str, package: str, annotations: Mapping[str, str]) -> ContainerSettings:
    """Read the annotations of a Function."""
    return ContainerSettings(
        function=function,
        image=annotations.get(f"{PREFIX}image") or package,
        name=annotations.get(f"{PREFIX}name", ""),
        cleanup=_one_of(annotations, "cleanup", (REMOVE, STOP, ORPHAN), "unknown cleanup policy"),
        pull_policy=_one_of(
            annotations, "pull-policy", (IF_NOT_PRESENT, ALWAYS, NEVER), "unknown pull policy"
        ),
        environment=_environment(annotations.get(f"{PREFIX}env", "")),
        publish_address=annotations.get(f"{PREFIX}publish-address") or "127.0.0.1",
        target=annotations.get(f"{PREFIX}target", ""),
        network=annotations.get(f"{PREFIX}network", ""),
    )


def _one_of(annotations: Mapping[str, str], key: str, values: tuple[str, ...], message: str) -> str:
    """The annotation's value; the first of the known ones is the default."""
    value = annotations.get(PREFIX + key) or values[0]
    if value not in values:
        raise RuntimeAnnotationError(
            f'unsupported "{PREFIX}{key}" annotation value "{value}" ({message})',
            hint=f"use one of {', '.join(values)}",
        )
    return value


def _environment(written: str) -> tuple[str, ...]:
    pairs = tuple(pair.strip() for pair in written.split(",") if pair.strip())
    for pair in pairs:
        if "=" not in pair:
            raise RuntimeAnnotationError(
                f'unsupported "{PREFIX}env" annotation value "{pair}" (not KEY=value)',
                hint="separate several with commas: A=1,B=2",
            )
    return pairs
