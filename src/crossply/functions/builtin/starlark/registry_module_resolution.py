"""The modules that a script and its modules load from registries, and whether they load any."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from crossply.compose.function_messages import Request, State
from crossply.functions.builtin.starlark.input import InputError, read_input
from crossply.functions.builtin.starlark.module_names import (
    SCHEME,
    ModuleNameError,
    NoDefaultRegistry,
    RegistryModule,
    full_name,
    parse,
)
from crossply.functions.builtin.starlark.registry_artifacts import ArtifactError, Files
from crossply.values import Object
from crossply.values.goquote import quote

_MAX_DEPTH = 10
Fetch = Callable[[str], Files]
_LOAD = "load"
_BLANK = (tokenize.NL, tokenize.COMMENT)


def registry_modules(
    source: str, modules: dict[str, str], default_registry: str, fetch: Fetch
) -> dict[str, str]:
    """The modules of registries that a script needs, by their full names.

    Raises NoDefaultRegistry or ArtifactError. Names that cannot be read are left to the run of the script.
    """
    targets: list[RegistryModule] = []
    for text in (source, *(modules[name] for name in sorted(modules))):
        try:
            targets += _targets(text, "", default_registry)
        except NoDefaultRegistry:
            raise
        except ModuleNameError:
            return {}
    return _Resolution(default_registry, fetch).resolve(targets) if targets else {}


def _targets(source: str, caller: str, default_registry: str) -> list[RegistryModule]:
    names = (full_name(module, caller, default_registry) for module in _remote(source, bool(caller)))
    return [parse(name) for name in names if name.startswith(SCHEME)]


def _remote(source: str, in_artifact: bool) -> Iterable[str]:
    """The names that may be those of modules in registries."""
    for module in _loaded_modules(source):
        if ":" in module or (in_artifact and module.startswith("./")):
            yield module


class _Resolution:
    """The artifacts that were fetched for a script."""

    def __init__(self, default_registry: str, fetch: Fetch) -> None:
        self._registry, self._fetch = default_registry, fetch
        self._artifacts: dict[str, Files] = {}
        self._modules: dict[str, str] = {}

    def resolve(self, targets: list[RegistryModule], depth: int = 0) -> dict[str, str]:
        if depth > _MAX_DEPTH:
            raise ArtifactError(f"OCI dependency resolution exceeded maximum depth ({_MAX_DEPTH})")
        further: list[RegistryModule] = []
        for target in targets:
            if target.name in self._modules:
                continue
            self._modules[target.name] = self._text(target)
            further += self._loaded_by(target)
        if further:
            self.resolve(further, depth + 1)
        return self._modules

    def _text(self, target: RegistryModule) -> str:
        if target.reference not in self._artifacts:
            self._artifacts[target.reference] = self._fetch(target.reference)
        files = self._artifacts[target.reference]
        if target.file not in files:
            raise ArtifactError(
                f"file {quote(target.file)} not found in OCI artifact {target.reference}; available files: "
                f"{', '.join(sorted(files))}"
            )
        return files[target.file]

    def _loaded_by(self, target: RegistryModule) -> list[RegistryModule]:
        try:
            return _targets(self._modules[target.name], target.name, self._registry)
        except ModuleNameError:
            return []


@lru_cache(maxsize=256)
def _loaded_modules(source: str) -> tuple[str, ...]:
    """The names in the load statements of a script; none for one that has syntax errors."""
    if _LOAD not in source:
        return ()
    try:
        return tuple(_names(tokenize.generate_tokens(io.StringIO(source).readline)))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return ()


def _names(tokens: Iterator[tokenize.TokenInfo]) -> Iterator[str]:
    starts_statement, depth = True, 0
    for token in tokens:
        if token.type in _BLANK:
            continue
        if token.type == tokenize.INDENT or token.type == tokenize.DEDENT:
            depth += 1 if token.type == tokenize.INDENT else -1
            continue
        if starts_statement and depth == 0 and token.string == _LOAD:
            name = _first_argument(tokens)
            if name is not None:
                yield name
        starts_statement = token.type == tokenize.NEWLINE or token.string == ";"


def _first_argument(tokens: Iterator[tokenize.TokenInfo]) -> str | None:
    opening = next(tokens, None)
    if opening is None or opening.string != "(":
        return None
    for token in tokens:
        if token.type in _BLANK:
            continue
        if token.type != tokenize.STRING:
            return None
        value = ast.literal_eval(token.string)
        return value if isinstance(value, str) else None
    return None


class _Fetched(Exception):
    """A module would be fetched. It never leaves this module."""


def loads_from_registry(step_input: Object) -> bool:
    """Whether the script in an input, or a module beside it, loads a module of a registry.

    What cannot be read is no reason: running the script says why.
    """
    try:
        read = read_input(Request(State(), State(), input=step_input))
        registry_modules(read.source, read.modules, read.default_registry, _fetch)
    except _Fetched:
        return True
    except (InputError, NoDefaultRegistry):
        return False
    return False


def _fetch(reference: str) -> Files:
    raise _Fetched
