"""String transforms: a text made of any value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.errors import CrossplyError
from crossply.functions.builtin.patch_and_transform.dialect import Dialect
from crossply.functions.builtin.patch_and_transform.failure import Failure, failing
from crossply.functions.builtin.patch_and_transform.formatting import formatter
from crossply.functions.builtin.patch_and_transform.limits import check_length
from crossply.functions.builtin.patch_and_transform.texts import text_of, valid_text
from crossply.functions.builtin.patch_and_transform.transforms.conversions import conversion
from crossply.values import Object
from crossply.values.goquote import quote
from crossply.values.regexp import compile_go

Change = Callable[[Any], Any]

_FIELDS = {
    "Format": "fmt",
    "Convert": "convert",
    "TrimPrefix": "trim",
    "TrimSuffix": "trim",
    "Regexp": "regexp",
    "Join": "join",
    "Replace": "replace",
}


def string_transform(settings: Object, dialect: Dialect) -> Change:
    """Make the closure of a string transform."""
    kind = settings.get("type", "")
    if kind not in dialect.string_types:
        return failing(f"type {kind} is not supported for string transform type")
    field = _FIELDS[kind]
    if field not in settings:
        return failing(f"string transform of type {kind} {field} is not set")
    return _change(kind, settings[field], dialect)


def _change(kind: str, setting: Any, dialect: Dialect) -> Change:
    if kind == "Format":
        formatted = formatter(setting, 1)
        return lambda value: formatted((value,))
    if kind == "Convert":
        return conversion(setting)
    if kind == "TrimPrefix":
        return lambda value: text_of(value).removeprefix(setting)
    if kind == "TrimSuffix":
        return lambda value: text_of(value).removesuffix(setting)
    if kind == "Regexp":
        return _extract(setting.get("match", ""), setting.get("group", 0))
    if kind == "Join":
        return _join(setting.get("separator", ""), dialect)
    return _replace(setting.get("search", ""), setting.get("replace", ""))


def _extract(expression: str, group: int) -> Change:
    try:
        pattern = compile_go(expression)
    except CrossplyError as reason:
        return failing(f"could not compile regexp: {reason}")
    search, groups = pattern.search, pattern.groups

    def extract(value: Any) -> str:
        found = search(valid_text(text_of(value)))
        if found is None or group > groups:
            raise Failure(f"regexp {quote(expression)} had no matches for group {group}")
        if group < 0:
            # The original crashes here.
            raise Failure(f"regexp {quote(expression)} cannot have a negative group {group}")
        return found.group(group) or ""

    return extract


def _join(separator: str, dialect: Dialect) -> Change:
    join = dialect.join

    def join_items(value: Any) -> str:
        if type(value) is not list:
            raise Failure(dialect.not_a_list)
        check_length(len(separator) * len(value))
        return join(separator, [text_of(item) for item in value])

    return join_items


def _replace(search: str, replacement: str) -> Change:
    def replace(value: Any) -> str:
        text = text_of(value)
        check_length(text.count(search) * len(replacement))
        return text.replace(search, replacement)

    return replace
