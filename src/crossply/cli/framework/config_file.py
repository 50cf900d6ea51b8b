"""The configuration file, which enables features. It is Crossplane's own file, so both tools agree.

It is read before the command line is parsed, because it decides which commands the help shows.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from crossply.errors import CrossplyError

FEATURES = ("disableBeta", "enableAlpha", "generateGoModelAccessors", "generateGoRuntimeObjects")
VERSION = 1
GO_KINDS = {str: "string", int: "number", float: "number", bool: "bool", list: "array", dict: "object"}


class ConfigError(CrossplyError):
    """The configuration file cannot be read or written, or is invalid."""

    code = "CP-502"
    hint = "correct the file, or name another one with --config"
    prefix = ""  # Crossplane prints these without the word "error"


class ConfigKeyError(CrossplyError):
    """`config set` was given a key that does not exist, or a value the key cannot have."""

    code = "CP-503"


def locate(words: list[str], environ: Mapping[str, str]) -> str:
    """Find the path of the file: the flag, the environment, or the usual place; "" when there is none."""
    return _flag(words) or environ.get("CROSSPLANE_CONFIG", "") or _usual_place(environ)


def _flag(words: list[str]) -> str:
    for position, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == "--":
            return ""
        if name != "--config":
            continue
        value = value if equals else "".join(words[position + 1 : position + 2])
        if not value:
            raise ConfigError("flag --config requires a value", hint="--config PATH")
        return value
    return ""


def _usual_place(environ: Mapping[str, str]) -> str:
    if environ.get("XDG_CONFIG_HOME"):
        return os.path.join(environ["XDG_CONFIG_HOME"], "crossplane", "config.yaml")
    home = environ.get("HOME")
    return os.path.join(home, ".config", "crossplane", "config.yaml") if home else ""


def read(path: str) -> dict[str, Any]:
    """Read and validate a configuration file; a missing file means the defaults."""
    # Most calls end here, without importing a YAML reader.
    if not path or not os.path.lexists(path):
        return {"version": VERSION}
    from crossply.values import yaml

    try:
        with open(path, "rb") as file:
            value = yaml.load(file.read())
    except OSError as problem:
        raise ConfigError(f"cannot read config file {path}: {_os_sentence('open', path, problem)}") from None
    except yaml.YamlError as problem:
        text = f"cannot parse config file {path}: error converting YAML to JSON: {problem}"
        raise ConfigError(text, place=path) from None
    return _checked(path, value)


def _checked(path: str, value: Any) -> dict[str, Any]:
    config = _typed(path, "", value, dict, "config.Config")
    version = _typed(path, "version", config.get("version"), int, "int")
    if version != VERSION:
        raise ConfigError(f"unsupported config version {version}", place=path)
    flags = _typed(path, "features", config.get("features"), dict, "config.Features")
    features = {name: _typed(path, f"features.{name}", flags.get(name), bool, "bool") for name in FEATURES}
    return with_features(features)


def _typed(path: str, field: str, value: Any, kind: type, go_type: str) -> Any:
    """Check the type of one field; null is the zero value, as in Go."""
    if value is None:
        return kind()
    if type(value) is kind:
        return value
    target = f"Go struct field Config.{field}" if field else "Go value"
    go_kind = GO_KINDS.get(type(value), "value")
    problem = f"json: cannot unmarshal {go_kind} into {target} of type {go_type}"
    sentence = f"cannot parse config file {path}: error unmarshaling JSON: while decoding JSON: {problem}"
    raise ConfigError(sentence, place=path)


def with_features(features: Mapping[str, bool]) -> dict[str, Any]:
    """Make a configuration of the features that are on."""
    chosen = {name: True for name in FEATURES if features.get(name)}
    return {"version": VERSION, **({"features": chosen} if chosen else {})}


def concealed(config: Mapping[str, Any]) -> frozenset[str]:
    """Name the maturity levels whose commands the help leaves out. They still run."""
    features = config.get("features", {})
    hidden = {"alpha": not features.get("enableAlpha"), "beta": features.get("disableBeta")}
    return frozenset(level for level, is_hidden in hidden.items() if is_hidden)


def write(path: str, config: Mapping[str, Any]) -> None:
    """Write a configuration file that only its owner can read, making its directory where needed."""
    from crossply.values import yaml

    folder = os.path.dirname(path)
    try:
        if folder:
            os.makedirs(folder, mode=0o755, exist_ok=True)
    except OSError as problem:
        sentence = _os_sentence("mkdir", folder, problem)
        raise ConfigKeyError(f"cannot create config directory {folder}: {sentence}") from None
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(yaml.dump(dict(config)))
    except OSError as problem:
        sentence = _os_sentence("open", path, problem)
        raise ConfigKeyError(f"cannot write config file {path}: {sentence}") from None


def _os_sentence(action: str, path: str, problem: OSError) -> str:
    return f"{action} {path}: {(problem.strerror or str(problem)).lower()}"
