"""The pages of the reference about the public Python interfaces, from their signatures and docstrings."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

PAGES = {
    "sdk-api": ("crossply.sdk", "The SDK, name by name", "[The SDK](sdk.md) says how they fit together."),
    "provider-api": (
        "crossply.provider",
        "The provider kit, name by name",
        "[The provider kit](provider-kit.md) says how they fit together.",
    ),
}
_NO_LITERAL = re.compile(r"<[^<>]+>")
"""A default value that Python cannot print as code."""


def api_pages(notice: str) -> dict[str, Callable[[], str]]:
    """What writes each page, by its path."""
    return {f"docs/reference/{name}.md": partial(_page, *texts, notice) for name, texts in PAGES.items()}


def _page(module: str, title: str, head: str, notice: str) -> str:
    names = importlib.import_module(module)
    sections = [f"# {title}", notice, f"What `{module}` exports. {head}"]
    for name in names.__all__:
        sections += _sections(name, getattr(names, name))
    return "\n\n".join(sections) + "\n"


def _sections(name: str, value: Any) -> Iterator[str]:
    yield f"## {name}"
    if inspect.isclass(value) or callable(value):
        yield _code(f"{'class ' if inspect.isclass(value) else ''}{name}{_signature(value)}")
    yield from _text(value)
    if inspect.isclass(value):
        for member, attribute in _members(value):
            yield from _member_sections(f"{name}.{member}", attribute)


def _members(value: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that have something to say, in the order of their definition."""
    for name, member in vars(value).items():
        is_public = not name.startswith("_") or name in ("__getitem__", "__setitem__", "__delitem__")
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if is_public and inspect.isfunction(function) and inspect.getdoc(function):
            yield name, member


def _member_sections(name: str, member: Any) -> Iterator[str]:
    yield f"### {name}"
    if isinstance(member, property):
        returned = inspect.signature(member.fget).return_annotation
        yield _code(f"{name}: {_Annotation.of(returned)}")
        yield from _text(member.fget)
    else:
        yield _code(f"{name}{_signature(getattr(member, '__func__', member))}")
        yield from _text(member)


def _signature(value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except ValueError:
        return ""
    parameters = [
        parameter.replace(annotation=_Annotation.of(parameter.annotation))
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    returned = _Annotation.of(signature.return_annotation)
    return _NO_LITERAL.sub("…", str(signature.replace(parameters=parameters, return_annotation=returned)))


class _Annotation(str):
    """An annotation that is printed without quotes."""

    __slots__ = ()

    @classmethod
    def of(cls, annotation: Any) -> Any:
        if annotation is inspect.Signature.empty:
            return annotation
        text = getattr(annotation, "__forward_arg__", annotation)
        return cls(text if isinstance(text, str) else inspect.formatannotation(text))

    def __repr__(self) -> str:
        return str(self)


def _text(value: Any) -> Iterator[str]:
    text = inspect.getdoc(value) or ""
    if text and not text.startswith(("str(object", "dict(")):
        yield text


def _code(text: str) -> str:
    return f"```text\n{text}\n```"
