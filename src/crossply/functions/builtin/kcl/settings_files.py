"""Settings of programs: settings files, and several configurations as one.

A settings file, kcl.yaml in a module, has settings of a program, by their names in the `config` of an input.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from crossply.functions.builtin.kcl.module_failures import ModuleError
from crossply.functions.builtin.kcl.module_source_policy import ModuleAccess
from crossply.values import Object

SETTINGS_FILE = "kcl.yaml"
"""The settings file of a module."""

_FLAGS = {
    "disable_none": "disableNone",
    "sort_keys": "sortKeys",
    "show_hidden": "showHidden",
    "strict_range_check": "strictRangeCheck",
}
_LISTS = {"overrides": "overrides", "path_selector": "pathSelectors"}


class Settings(NamedTuple):
    """What a settings file says."""

    entries: tuple[str, ...] = ()
    config: Object = {}  # noqa: RUF012 - read only


def settings_of_step(paths: tuple[str, ...], access: ModuleAccess) -> Settings:
    """The settings files of a step as one."""
    from crossply.functions.builtin.kcl.module_file_reader import ModuleTree

    read = []
    for path in paths:
        tree = ModuleTree(os.path.dirname(os.path.abspath(path)), access)
        text = tree.read(os.path.basename(path))
        if text is None:
            raise ModuleError(f"failed to load '{path}', no such file or directory")
        read.append(read_settings(text, path))
    entries = tuple(entry for settings in read for entry in settings.entries)
    return Settings(entries, merged_config(*(settings.config for settings in read)))


def read_settings(text: str, place: str) -> Settings:
    """Read a settings file; raises ModuleError."""
    from crossply.errors import CrossplyError
    from crossply.values import yaml

    try:
        content = yaml.load(text) or {}
    except CrossplyError as error:
        raise ModuleError(f"cannot read {place}: {error}") from None
    command = content.get("kcl_cli_configs") if isinstance(content, dict) else None
    command = command if isinstance(command, dict) else {}
    options = content.get("kcl_options") if isinstance(content, dict) else None
    return Settings(
        tuple(_texts(command.get("file")) + _texts(command.get("files"))),
        {
            **{ours: bool(command[theirs]) for theirs, ours in _FLAGS.items() if theirs in command},
            **{ours: _texts(command.get(theirs)) for theirs, ours in _LISTS.items()},
            "arguments": [_argument(option) for option in options or () if isinstance(option, dict)],
        },
    )


def merged_config(*configs: Object) -> Object:
    """Several configurations as one: lists add up, and a switch is on where one of them has it on."""
    merged: Object = {}
    for config in configs:
        for name, value in config.items():
            if isinstance(value, list):
                merged[name] = [*merged.get(name, ()), *value]
            else:
                merged[name] = bool(value or merged.get(name))
    return merged


def _argument(option: Object) -> str:
    from crossply.values.gojson import dumps

    value = option.get("value")
    return f"{option.get('key', '')}={value if isinstance(value, str) else dumps(value)}"


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
