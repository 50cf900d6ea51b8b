"""The module `regex`: regular expressions of Go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig import regex as sprig
from crossply.functions.builtin.starlark.language.arguments import STRING, Signature, required
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.values import Builtin, Module, Value
from crossply.values.regexp import RegexpError, compile_go


def _function(name: str, function: Callable[..., Value], *parameters: str) -> Builtin:
    signature = Signature(name, *(required(parameter, STRING) for parameter in parameters))

    def implementation(args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        values = signature.bind(args, kwargs)
        try:
            return function(*values)
        except (RegexpError, FunctionFailed) as error:
            raise EvalError(f"{name}: {error}") from None

    return Builtin(name, implementation)


def _find(pattern: str, text: str) -> str | None:
    match = compile_go(pattern).search(text)
    return match and str(match[0])


def _find_all(pattern: str, text: str) -> list[str]:
    return list(sprig.must_regex_find_all(pattern, text, -1))


def _split(pattern: str, text: str) -> list[str]:
    return list(sprig.must_regex_split(pattern, text, -1))


def _find_groups(pattern: str, text: str) -> list[str] | None:
    match = compile_go(pattern).search(text)
    return [group or "" for group in match.groups()] if match else None


def _replace_first(pattern: str, text: str, replacement: str) -> str:
    match: Any = compile_go(pattern).search(text)
    if match is None:
        return text
    return text[: match.start()] + sprig.expanded(text, match, replacement) + text[match.end() :]


REGEX = Module(
    "regex",
    {
        "match": _function("regex.match", sprig.must_regex_match, "pattern", "s"),
        "find": _function("regex.find", _find, "pattern", "s"),
        "find_all": _function("regex.find_all", _find_all, "pattern", "s"),
        "find_groups": _function("regex.find_groups", _find_groups, "pattern", "s"),
        "replace": _function("regex.replace", _replace_first, "pattern", "s", "replacement"),
        "replace_all": _function(
            "regex.replace_all", sprig.must_regex_replace_all, "pattern", "s", "replacement"
        ),
        "split": _function("regex.split", _split, "pattern", "s"),
    },
)
