"""The context that `render` gives to the first step of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping

from crossply.cli.framework.manifest_files import read_bytes
from crossply.values import Object
from crossply.values.structs import to_wire
from crossply.values.yaml import YamlError, read_first


def build_context(files: Mapping[str, str] | None, values: Mapping[str, str] | None) -> Object:
    """The context from files, and over it from values of the command line."""
    texts: dict[str, str | bytes] = {}
    for key, path in (files or {}).items():
        texts[key] = read_bytes(path, f'cannot build context data: cannot read context value for key "{key}"')
    texts.update(values or {})
    return {key: to_wire(_parse(key, text)) for key, text in texts.items()}


def _parse(key: str, text: str | bytes) -> object:
    try:
        return read_first(text).value
    except YamlError as problem:
        raise problem.within(
            f'cannot parse context data: cannot unmarshal context value for key "{key}": '
            "error converting YAML to JSON"
        ) from None
