"""The configuration file: which features are on. Crossplane's own file is read, so both tools agree."""

from __future__ import annotations

from typing import Any

from crossply.errors import CrossplyError

FEATURES = ("enableAlpha", "disableBeta", "generateGoModelAccessors", "generateGoRuntimeObjects")
VERSION = 1


class ConfigError(CrossplyError):
    """The configuration file cannot be read or does not say what it should."""

    code = "CP-502"
    hint = "correct the file, or name another one with --config"
    # Crossplane prints these without the word "error".
    prefix = ""


def read(path: str) -> dict[str, Any]:
    """Read and check a configuration file."""
    from crossply.values import yaml

    try:
        with open(path, "rb") as file:
            value = yaml.load(file.read())
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise ConfigError(f"cannot read config file {path}: open {path}: {reason}", place=path) from None
    except yaml.YamlError as problem:
        text = f"cannot parse config file {path}: error converting YAML to JSON: {problem}"
        raise ConfigError(text, place=path) from None
    return _checked(path, value)


def _checked(path: str, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"cannot parse config file {path}: expected a mapping", place=path)
    version = value.get("version", 0)
    if version != VERSION:
        raise ConfigError(f"unsupported config version {version} in {path}: expected {VERSION}", place=path)
    return value
