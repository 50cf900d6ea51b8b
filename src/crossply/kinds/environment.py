"""An EnvironmentConfig: data that functions merge into the environment of a pipeline."""

from __future__ import annotations

from typing import NamedTuple

from crossply.kinds.fields import Fields, KindError
from crossply.values import Object


class EnvironmentConfigError(KindError):
    """An EnvironmentConfig has a field that cannot be understood."""

    code = "CP-418"


class EnvironmentConfig(NamedTuple):
    """Named data, found by its name or by its labels."""

    name: str
    labels: dict[str, str]
    data: Object


def parse_environment_config(obj: Object) -> EnvironmentConfig:
    """Read an EnvironmentConfig."""
    root = Fields(obj, error=EnvironmentConfigError)
    metadata = root.object("metadata")
    return EnvironmentConfig(
        metadata.text("name"), metadata.string_map("labels"), root.object("data").as_dict()
    )
