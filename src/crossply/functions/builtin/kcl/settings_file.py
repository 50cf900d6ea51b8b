"""kcl.yaml: settings of a program that stand in a file, by their names in the `config` of an input."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.functions.builtin.kcl.module_failures import ModuleError
from crossply.values import Object

SETTINGS = "kcl.yaml"
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


def _argument(option: Object) -> str:
    from crossply.values.gojson import dumps

    value = option.get("value")
    return f"{option.get('key', '')}={value if isinstance(value, str) else dumps(value)}"


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
